# Completion of foretrace for fish. What there is, the tool says itself, once a shell.
function __foretrace_machines
    foretrace machines 2>/dev/null | tail -n +2 | string split -f1 " "
end
function __foretrace_words
    string join ' ' (string match -v FILE -- (string split , -- $argv[1]))
end
complete -c foretrace -n __fish_use_subcommand -f -a help -d 'Tell the options of a command'
complete -c foretrace -n __fish_use_subcommand -f -l help -d 'Tell what commands there are'
complete -c foretrace -n __fish_use_subcommand -f -l version -d 'Tell the version'
for line in (foretrace --completion-data 2>/dev/null)
    set -l field (string split \t -- $line)
    switch $field[1]
        case command
            complete -c foretrace -n __fish_use_subcommand -f -a $field[2] -d $field[3]
            complete -c foretrace -n '__fish_seen_subcommand_from help' -f -a $field[2]
        case argument
            # What is no machine is a file, which fish offers by itself.
            switch $field[4]
                case machine
                    complete -c foretrace -n "__fish_seen_subcommand_from $field[2]" -a '(__foretrace_machines)'
                case '*,*'
                    complete -c foretrace -n "__fish_seen_subcommand_from $field[2]" -a (__foretrace_words $field[4])
            end
        case option
            set -l how -l (string replace -r '^--' '' -- $field[3])
            string match -q -- '--*' $field[3]; or set how -s (string replace - '' -- $field[3])
            set -l when "__fish_seen_subcommand_from $field[2]"
            switch $field[4]
                case -
                    complete -c foretrace -n $when $how -d $field[5]
                case machine
                    complete -c foretrace -n $when $how -r -a '(__foretrace_machines)' -d $field[5]
                case '*,FILE'
                    complete -c foretrace -n $when $how -r -a (__foretrace_words $field[4]) -d $field[5]
                case '*,*'
                    complete -c foretrace -n $when $how -x -a (__foretrace_words $field[4]) -d $field[5]
                case '*'
                    complete -c foretrace -n $when $how -r -d $field[5]
            end
    end
end
