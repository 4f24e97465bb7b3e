# SPDX-License-Identifier: Apache-2.0
# Bash.

# bash reads its script from a pipe; a cell is an eval in it, followed by a line that tells the
# status. On SIGINT a script's shell would die, and with a trap alone it would go on with the
# cell's next command. So the trap turns on a second one, before every command, that skips all
# but ours: it returns from functions, breaks out of loops, and passes over the rest. A `break`
# at the head of a for loop would stay pending for ever, so heads are only skipped; (( )) may be
# such a head, or all there is in an endless while, where it is skipped often and then breaks.
# Nothing here may fork: a subshell has this trap too.
BASH_SKIP = ("case $BASH_COMMAND in *__cordon_*) ;; 'for '*|'select '*) return 2 || false;; "
             "'(('*) return 2 || [[ $((++__cordon_skip)) -gt 999 ]] && ! break 1000 || false;; "
             "*) return 2 || ! break 1000 || false;; esac 2>/dev/null")
BASH_ON_INTERRUPT = "__cordon_skip=1; shopt -s extdebug; trap %s DEBUG" % shlex.quote(BASH_SKIP)
BASH_BEGIN = "exec %d<&-; BASH_ARGV0=bash; trap %s INT\n" % (CELLS_FD, shlex.quote(BASH_ON_INTERRUPT))
BASH_RESUME = ("[[ -z ${__cordon_skip-} ]] || { trap - DEBUG ${__cordon_skip+}; "
               "shopt -u extdebug ${__cordon_skip+}; unset __cordon_skip; }")


def bash_cell(code, env):
    names = [name for name in env if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)]
    lines = ["{ %s; } 2>/dev/null" % BASH_RESUME]
    if names:
        lines.append("declare -A __cordon_env=()")
        for name in names:
            # ${x@A} is the assignment that makes the variable again, with its attributes.
            lines.append("[[ ! -v {0} ]] || __cordon_env[{0}]=${{{0}@A}}".format(name))
            lines.append("export %s=%s" % (name, shlex.quote(env[name])))
    lines.append("eval %s %d>&-" % (shlex.quote(code), BASH_ANSWERS_FD))
    restore = "".join("unset -v {0} ${{__cordon_end+}}; [[ ! -v __cordon_env[{0}] ]] || "
                      "eval \"${{__cordon_env[{0}]}}\" ; ".format(name) for name in names)
    lines.append("{ __cordon_end=$?; %s; %sbuiltin printf 'd %%d\\n' \"$__cordon_end\" >&%d; } "
                 "2>/dev/null" % (BASH_RESUME, restore, BASH_ANSWERS_FD))
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")
