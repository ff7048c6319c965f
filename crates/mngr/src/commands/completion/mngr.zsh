#compdef mngr
# Completion of mngr for zsh. It asks mngr itself at every TAB, so it need not be renewed.
_mngr() {
    local -a answer shown
    local line value about
    answer=("${(@f)$(command mngr __complete words "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    case $answer[1] in
    files | folders)
        compset -P '--*='
        if [[ $answer[1] == files ]]; then _files; else _files -/; fi
        return
        ;;
    esac
    for line in "${(@)answer[2,-1]}"; do
        value=${line%%$'\t'*}
        about=
        [[ $line == *$'\t'* ]] && about=${line#*$'\t'}
        shown+=("${value//:/\\:}:$about")
    done
    if [[ $answer[1] == open ]]; then
        _describe -V mngr shown -S ''
    else
        _describe -V mngr shown
    fi
}
if [[ $funcstack[1] == _mngr ]]; then
    _mngr "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
    compdef _mngr mngr
fi
