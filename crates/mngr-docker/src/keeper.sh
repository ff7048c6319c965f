# What a container runs: nothing, until it is told to stop. How it ends is how the engine remembers why.
trap 'exit 0' TERM INT
trap 'exit 75' USR1
while :; do
    sleep 86400 &
    wait $!
done
