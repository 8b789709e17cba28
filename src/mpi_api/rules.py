"""The options of functions.txt that name a rule of src/mpi_api/sizes.hpp."""


def rule_call(kind, first, rule):
    """A call of mpi_api::KIND_RULE(FIRST, ...) from RULE(...)."""
    name, _, arguments = rule.partition("(")
    arguments = arguments.rstrip(")")
    return f"mpi_api::{kind}_{name}({first}{', ' + arguments if arguments else ''})"
