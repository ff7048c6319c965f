# Tutorial block:
#   # Take the list elsewhere, as CSV: texts are in quotes, and a quote in them is doubled
#   todo export
#
# Scope: a text with quotes can be read back.

. tests/lib/session.sh

ok todo add 'read "Emma"'
expect '1,open,"read ""Emma"""' todo export
