"""Questions that people ask of papers, pools, runs and citations: each one query with parameters.

`texts/NAME.sql` begins with the question, why it is asked, and its parameters; `contents.toml` has the order.
"""

from pinakes.recipes.recipe import (
    Parameter,
    Recipe,
    Section,
    fill,
    find_recipe,
    list_recipes,
    parse_values,
    read_sections,
)

__all__ = [
    "Parameter",
    "Recipe",
    "Section",
    "fill",
    "find_recipe",
    "list_recipes",
    "parse_values",
    "read_sections",
]
