#!/bin/sh
# The nightly work on one benchmark. Each step does nothing where nothing changed; the first that fails ends it,
# with its exit code: 1 failed, 2 usage, 3 regression, 4 busy, 70 defect.
set -e
cd "${PINAKES_FOLDER:-/srv/pinakes}"
pinakes load beir corpora/scifact > /dev/null
pinakes index scifact --system bm25 --system minilm > /dev/null
pinakes run scifact --system bm25 --system minilm > /dev/null
pinakes evaluate --all --changed --fail-on-drop 0.01 > /dev/null
pinakes report scifact --folder www/scifact > /dev/null
pinakes status --check > /dev/null
