"""Vectors do not depend on the number of threads."""

import pytest

from pinakes.indexers.encoder.model import INTEL
from pinakes.indexers.encoder.precision import CPU_INFO
from tests.warm import Warm

SCRIPT = """
import hashlib, sys, torch
from pinakes.indexers.encoder.encode import encode_texts
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import resolve_model

torch.set_num_threads(int(sys.argv[1]))
encoder = load_encoder(resolve_model("minilm"), precision="fp32")
words = ("graph", "paper")
texts = [(str(n), " ".join(f"{word}{n % 7}" for word in words * (1 + 7 * n % 190))) for n in range(64)]
digest = hashlib.sha256()
for batch in encode_texts(encoder, texts):
    digest.update(batch.vectors.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.model
@pytest.mark.skipif(
    not CPU_INFO.is_file() or INTEL not in CPU_INFO.read_text(encoding="utf-8"),
    reason="MKL has a mode of fixed sums for Intel's processors alone",
)
def test_vectors_are_the_same_to_the_bit_at_any_number_of_threads(warm: Warm) -> None:
    ended = [warm.run(SCRIPT, threads) for threads in (1, 2)]
    assert [one.code for one in ended] == [0, 0]
    assert len(ended[0].out.strip()) == 64
    assert ended[0].out == ended[1].out
