# Tutorial block:
#   # How many are open, and how many are done?
#   todo count
#
# Scope: both numbers are shown, also when one of them is zero.

. tests/lib/session.sh

ok todo add "buy milk"
ok todo add "call home"
expect "2 open, 0 done" todo count
