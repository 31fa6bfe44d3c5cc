"""Which signatures (an author's name on a paper) are of one person, as S2AND tells them apart; no database."""
