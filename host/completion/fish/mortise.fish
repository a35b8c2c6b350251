# fish completion for mortise, printed by `mortise completion fish`
function __mortise_words
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l head (string match -r -- '^--[^=]*=' "$current")
    set -l value (string replace -r -- '^--[^=]*=' '' "$current")
    for line in (command mortise completion words -- $before[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                printf '%s\n' "$head"(__fish_complete_path "$value")
            case :folders
                printf '%s\n' "$head"(__fish_complete_directories "$value")
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c mortise -f -a '(__mortise_words)'
