"""Which signatures (an author's name on a paper) are of one person, as S2AND tells it; no database."""
