"""The sentences that analysers find: Punkt's."""

from pinakes.indexers.punkt import split_sentences as split_sentences
