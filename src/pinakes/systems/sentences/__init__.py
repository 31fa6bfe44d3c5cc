"""Systems that compare sentences: a paper scores by its best pair of sentences, or by transport between them.

`system` are the systems, `stored` the vectors of sentences, alone or within their paper, `requested` which
sentences are compared, `matching` how they become a score, and `ranking` the rankings.
"""
