# Completion of mngr for fish. It asks mngr itself at every TAB, so it need not be renewed.
function __mngr_complete
    set -l before (commandline -opc)
    set -e before[1]
    set -l current (commandline -ct)
    set -l answer (command mngr __complete words $before "$current" 2>/dev/null)
    set -l how $answer[1]
    set -e answer[1]
    switch "$how"
        case files folders
            set -l option (string match -r -- '^--[^=]*=' "$current")
            set -l path (string replace -r -- '^--[^=]*=' '' "$current")
            set -l found
            if test "$how" = files
                set found (__fish_complete_path "$path")
            else
                set found (__fish_complete_directories "$path")
            end
            printf '%s\n' "$option"$found
        case '*'
            printf '%s\n' $answer
    end
end
complete -c mngr -f -a '(__mngr_complete)'
