"""The task of clustering signatures by person, as S2AND has it."""
