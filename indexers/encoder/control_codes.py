"""Control codes: what stands before a text, as `[PRX] `, and whose token's state is then the vector."""

from collections.abc import Sequence
from typing import Any

from pinakes.errors import IndexingError


def require_codes(
    tokenizer: Any, encoder: str, texts: Sequence[str], tokens: Sequence[Sequence[int]]
) -> None:
    """Raise `IndexingError` unless each text begins with a code that is one token, behind the first one.

    A tokenizer that does not know the code splits it, and the second token would be a piece of it (`[`): the
    vectors would look like any others. `tokens` are those of the texts, special tokens included.
    """
    known: dict[str, int] = {}
    for text, row in zip(texts, tokens, strict=True):
        code = text.partition(" ")[0]
        if code not in known:
            known[code] = _find_token(tokenizer, encoder, code)
        if len(row) < 2 or row[1] != known[code]:
            raise IndexingError(
                f"{encoder} puts the token {tokenizer.convert_ids_to_tokens(list(row[:2]))[-1]!r} where "
                f"the control code {code!r} should be, behind one special token. Use a tokenizer that begins "
                "a text with one special token, or another pooling"
            )


def _find_token(tokenizer: Any, encoder: str, code: str) -> int:
    pieces = tokenizer.tokenize(code)
    added = tokenizer.get_added_vocab()
    if len(pieces) == 1 and pieces[0] == code and code in added:
        return int(added[code])
    if not (code.startswith("[") and code.endswith("]")):
        raise IndexingError(
            f"{encoder} takes the vector of a text from its control code, and a text begins with {code!r}; "
            "expected a code such as [PRX]. Begin the text with it; in a benchmark, let this have a format, "
            "or name one with --format"
        )
    raise IndexingError(
        f"the tokenizer of {encoder} splits the control code {code} into {', '.join(pieces)}; expected one "
        "special token, since its state is the vector. Use the tokenizer that the model was trained with, or "
        f"add the codes to it as special tokens ({', '.join(sorted(added)) or 'none'} are there)"
    )
