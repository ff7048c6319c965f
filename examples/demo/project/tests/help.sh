# Tutorial block:
#   # What else is there?
#   todo help
#
# Scope: every command of this tutorial has a line.

. tests/lib/session.sh

ok todo help
for command in add list tick remove clear edit find count pick export; do
    case $printed in
    *"todo $command"*) ;;
    *) fail "it should name: $command" ;;
    esac
done
