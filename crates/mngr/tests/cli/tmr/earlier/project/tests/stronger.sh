set -e
[ "$(sh src/answer.sh double 2)" = 4 ]
