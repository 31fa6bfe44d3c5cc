"""Numbers in, numbers out: rankings and judgments become scores."""
