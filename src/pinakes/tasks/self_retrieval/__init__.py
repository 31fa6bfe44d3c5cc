"""The task of alternative-self retrieval: whether altered texts find the papers that they are of."""
