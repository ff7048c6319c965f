# Completion of mngr for bash. It asks mngr itself at every TAB, so it need not be renewed.
_mngr() {
    local answer how line
    COMPREPLY=()
    answer=$(command mngr __complete line "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null) || return 0
    how=${answer%%$'\n'*}
    # bash 3 has no compopt; there, files are not completed and a space follows every word.
    case $how in
    files) compopt -o default 2>/dev/null ;;
    folders) compopt -o dirnames 2>/dev/null ;;
    open) compopt -o nospace 2>/dev/null ;;
    esac
    [ "$answer" = "$how" ] && return 0
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done <<<"${answer#*$'\n'}"
}
complete -F _mngr mngr
