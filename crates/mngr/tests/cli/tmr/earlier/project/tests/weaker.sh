set -e
[ "$(sh src/answer.sh greet you)" = 'hello you' ]
