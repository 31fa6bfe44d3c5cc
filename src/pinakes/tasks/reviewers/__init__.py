"""The task of ranking reviewers for a submission, by the papers that are theirs."""
