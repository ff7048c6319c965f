# shellcheck shell=sh
# hang: works for ever, without a sign of it.
hang() {
    while :; do sleep 3600; done
}
