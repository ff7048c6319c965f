# Tutorial block:
#   # Let it decide what to do next: any of the open tasks
#   todo pick
#
# Scope: the text of one open task is printed.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
expect "buy milk" todo pick
