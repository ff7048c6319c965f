# Stops this container from inside. $1: the state it is in then, PAUSED or STOPPED. The engine's init hands signals on.
case $1 in
PAUSED) kill -USR1 1 ;;
*) kill -TERM 1 ;;
esac
