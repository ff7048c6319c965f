# Tutorial block:
#   # Take the list elsewhere, as CSV: texts are in quotes, and a quote in them is doubled
#   todo export
#
# Scope: a comma in a text does not part it.

. tests/lib/session.sh

ok todo add "milk, eggs"
expect '1,open,"milk, eggs"' todo export
