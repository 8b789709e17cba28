# Completion of foretrace for bash. What there is, the tool says itself.
_foretrace() {
  local tool=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]} data value stem= i
  COMPREPLY=()
  data=$("$tool" --completion-data 2>/dev/null) || return
  if ((COMP_CWORD == 1)) || { ((COMP_CWORD == 2)) && [[ $command == help ]]; }; then
    COMPREPLY=($(compgen -W "help --version --help $(awk -F'\t' '$1 == "command" {print $2}' <<<"$data")" -- "$word"))
    return
  fi
  # Behind -- is a program with its arguments.
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] && { COMPREPLY=($(compgen -f -- "$word")); return; }
  done
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$(awk -F'\t' -v c="$command" '$1 == "option" && $2 == c {print $3}' <<<"$data")" -- "$word"))
    return
  fi
  # Bash has taken a word apart at its colon: "hops:cut".
  if [[ $word == : ]]; then
    stem=$before: word= before=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $before == : ]]; then
    stem=${COMP_WORDS[COMP_CWORD - 2]}: before=${COMP_WORDS[COMP_CWORD - 3]}
  fi
  value=$(awk -F'\t' -v c="$command" -v o="$before" '$1 == "option" && $2 == c && $3 == o {print $4}' <<<"$data")
  if [[ -z $value || $value == - ]]; then
    value=$(awk -F'\t' -v c="$command" '$1 == "argument" && $2 == c {print $4; exit}' <<<"$data")
  fi
  case $value in
    machine) COMPREPLY=($(compgen -W "$("$tool" machines 2>/dev/null | awk 'NR > 1 {print $1}')" -- "$word") $(compgen -f -- "$word")) ;;
    *,*)
      COMPREPLY=($(compgen -W "$(tr , '\n' <<<"$value" | grep -vx FILE)" -- "$stem$word"))
      COMPREPLY=("${COMPREPLY[@]#"$stem"}")
      if [[ ,$value, == *,FILE,* ]] || { [[ -n $stem ]] && ((${#COMPREPLY[@]} == 0)); }; then
        COMPREPLY+=($(compgen -f -- "$word"))
      fi
      [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *: ]] && compopt -o nospace 2>/dev/null
      ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _foretrace foretrace
