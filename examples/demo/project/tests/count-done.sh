# Tutorial block:
#   # How many are open, and how many are done?
#   todo count
#
# Scope: a task that is done is counted as such.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
ok todo tick 1
expect "1 open, 1 done" todo count
