"""The programs that only read, with the options and operands that keep them so.

Anything that is not in these lists is no reading: another option, a shortened one, a second file that is written.
Sources: the manuals of GNU coreutils 9, findutils 4.9, grep 3.8, diffutils 3.8, procps 4, file 5.44, jq 1.6, ripgrep 14
and git 2.39.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lsp_harness.session.permission.shell.option_reading import Arguments, parse_options, read_arguments
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord, literal

Operands = Literal["files", "texts", "text files", "none"]
"""What the operands are: files that are read, texts, a text and then files, or nothing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The files that a command may read, if it only reads.

    Attributes:
        files: The files and folders that its words name.
        trees: Folders that it searches with all files in them.
        problem: Why it does not only read; empty if it does.
        reads_objects: Whether it reads the contents of files in a repository of git.
        follows_links: Whether it follows links within `trees`.
        shows_hidden: Whether it reads files in `trees` whose names begin with a dot.
    """

    files: tuple[ShellWord, ...] = ()
    trees: tuple[ShellWord, ...] = ()
    problem: str = ""
    reads_objects: bool = False
    follows_links: bool = False
    shows_hidden: bool = True

    def join(self, other: "Reading") -> "Reading":
        """Return what two commands read together."""
        return Reading(
            (*self.files, *other.files),
            (*self.trees, *other.trees),
            self.problem or other.problem,
            reads_objects=self.reads_objects or other.reads_objects,
            follows_links=self.follows_links or other.follows_links,
            shows_hidden=self.shows_hidden or other.shows_hidden,
        )


Judge = Callable[[Sequence[ShellWord]], Reading]


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that only reads.

    Attributes:
        options: The options with which it only reads (see `parse_options`).
        operands: What its operands are.
        text_options: Options that give the text in place of the first operand.
        tree_options: Options with which it searches folders with all files in them.
        max_operands: Most operands. Further ones would be written.
        permutes: Whether options may stand after operands.
        is_harmless: Whether it does no harm with any option, so that wildcards may become options.
        follows_links: Whether it follows links in the folders that it searches.
        judge: Judges the operands, too: returns why they do more than read.
    """

    options: str = ""
    operands: Operands = "files"
    text_options: tuple[str, ...] = ()
    tree_options: tuple[str, ...] = ()
    max_operands: int | None = None
    permutes: bool = True
    is_harmless: bool = False
    follows_links: bool = False
    judge: Callable[[Arguments], str] = field(default=lambda arguments: "")

    def read(self, words: Sequence[ShellWord]) -> Reading:
        """Return what a command with these arguments reads."""
        arguments = read_arguments(
            parse_options(self.options),
            words,
            permutes=self.permutes,
            wildcards_are_safe=self.is_harmless,
            shows_texts=self.is_harmless and self.operands == "texts",
        )
        if arguments.problem:
            return Reading(problem=arguments.problem)
        operands = arguments.operands
        if self.operands == "none" and operands:
            return Reading(problem=f"the argument {operands[0].display} is not understood")
        if self.max_operands is not None and len(operands) > self.max_operands:
            return Reading(problem=f"it may write {operands[self.max_operands].display}")
        if problem := self.judge(arguments):
            return Reading(problem=problem)
        files = list(operands) if self.operands in ("files", "text files") else []
        if self.operands == "text files" and not arguments.has(*self.text_options):
            files = files[1:]
        files += arguments.files
        trees = tuple(word for word in files if word.is_tree)
        if arguments.has(*self.tree_options) or "recurse" in arguments.values("-d", "--directories"):
            follows = self.follows_links or arguments.has("-R", "--dereference-recursive")
            return Reading(tuple(files), tuple(files) or (literal("."),), follows_links=follows)
        # a program follows a link that it gets as a path
        return Reading(tuple(files), trees, follows_links=bool(trees))


def _texts(words: Sequence[ShellWord]) -> Reading:
    """Judge a program whose words are all texts. A text that is not known may be that of the environment."""
    unknown = any(UNKNOWN in word.text and not word.is_harmless for word in words)
    return Reading(problem="an argument is not known" if unknown else "")


def _checks_files(words: Sequence[ShellWord]) -> Reading:
    """Judge `test` and `[`, which look at files."""
    if any(not word.is_known and not word.is_harmless for word in words):
        return Reading(problem="an argument is not known")
    operands = [word for word in words if word.is_known and not re.fullmatch(r"-\w+|[!=\]()<>]|!=|==|\d+|", word.text)]
    return Reading(tuple(operands))


def _prints(words: Sequence[ShellWord]) -> Reading:
    """Judge `printf`, which sets a variable with `-v`."""
    if words and words[0].text.startswith("-") and words[0].text != "--":
        return Reading(problem=f"the option {words[0].display} may set a variable")
    if words and UNKNOWN in words[0].text:
        return Reading(problem="the format is not known")
    return _texts(words)


ADDRESS = r"(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)"
SUBSTITUTION = r"s(?P<d>[/|#,@!:%_~])(?:(?!(?P=d))[^\\\n]|\\.)*(?P=d)(?:(?!(?P=d))[^\\\n]|\\.)*(?P=d)[gpiI\d]*"
SED_COMMAND = re.compile(rf"(?:{ADDRESS}(?:\s*,\s*[+~]?{ADDRESS})?)?\s*!?\s*(?:{SUBSTITUTION}|[pdqQ=DnNhHgGxl]\d*)")


def is_plain_sed(script: str) -> bool:
    """Return whether a script of sed only substitutes, prints, deletes or quits."""
    text = script.strip()
    if SED_COMMAND.fullmatch(text):
        return True
    parts = text.split(";")
    return len(parts) > 1 and all(SED_COMMAND.fullmatch(part.strip()) for part in parts if part.strip())


def _judge_sed(arguments: Arguments) -> str:
    scripts = arguments.values("-e", "--expression") or [word.text for word in arguments.operands[:1]]
    if not scripts or not all(map(is_plain_sed, scripts)):
        return "the script may run commands or write files"
    return ""


AWK_EFFECTS = re.compile(
    r"\bsystem\b|\bgetline\b|(?<!\|)\|(?!\|)|@|\bENVIRON\b|\b(?:PROCINFO|SYMTAB|FUNCTAB)\b|\bARGV\b|\bprintf?\b[\s\S]*>"
)
"""Words of a program of awk that run a command, write or read other files, or read the environment."""


def is_plain_awk(program: str) -> bool:
    """Return whether a program of awk only computes and prints."""
    return not AWK_EFFECTS.search(program)


def _judge_awk(arguments: Arguments) -> str:
    if not arguments.operands or not is_plain_awk(arguments.operands[0].text):
        return "the program may run commands, write files or read the environment"
    if any(not re.match(r"\w+=", value) for value in arguments.values("-v", "--assign")):
        return "a variable is not clear"
    return ""


def _judge_jq(arguments: Arguments) -> str:
    programs = [word.text for word in arguments.operands[:1]]
    if any(
        re.search(r"\benv\b|\$ENV|\b(?:import|include|input_line_number|get_search_list)\b|\$__", text)
        for text in programs
    ):
        return "the filter may read the environment or other files"
    return ""


FIND_WORDS = frozenset(
    [
        "-print",
        "-print0",
        "-prune",
        "-o",
        "-or",
        "-a",
        "-and",
        "-not",
        "!",
        "(",
        ")",
        ",",
        "-ls",
        "-follow",
        "-depth",
        "-d",
        "-mount",
        "-xdev",
        "-nouser",
        "-nogroup",
        "-readable",
        "-writable",
        "-executable",
        "-true",
        "-false",
        "-quit",
        "-daystart",
        "-noleaf",
        "-warn",
        "-nowarn",
        "-empty",
        "-ignore_readdir_race",
        "-noignore_readdir_race",
        "-help",
        "-version",
        "--help",
        "--version",
    ]
)
FIND_VALUES = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-regextype",
        "-type",
        "-xtype",
        "-size",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-used",
        "-maxdepth",
        "-mindepth",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-links",
        "-inum",
        "-lname",
        "-ilname",
        "-fstype",
        "-printf",
        "-context",
    ]
)
FIND_FILES = re.compile(r"-(?:newer(?:[aBcmt][aBcmt])?|anewer|cnewer|samefile)$")


def _finds(words: Sequence[ShellWord]) -> Reading:
    """Judge `find`: its folders, and an expression of tests and prints. `-exec` is judged elsewhere."""
    roots, files, position = list[ShellWord](), list[ShellWord](), 0
    while position < len(words) and re.fullmatch(r"-[HLP]|-O[0-3]", words[position].text):
        position += 1
    while position < len(words) and not re.match(r"[-!(),]", words[position].text):
        if not words[position].is_known and words[position].loose.startswith(UNKNOWN):
            return Reading(problem=f"the wildcard {words[position].text} may become an option")
        roots.append(words[position])
        position += 1
    roots = roots or [literal(".")]
    while position < len(words):
        word = words[position]
        position += 1
        if not word.is_known:
            return Reading(problem="an argument is not known")
        if word.text in FIND_WORDS:
            continue
        if word.text in FIND_VALUES or FIND_FILES.match(word.text):
            if position >= len(words) or not words[position].is_known:
                return Reading(problem=f"the value of {word.text} is not known")
            if FIND_FILES.match(word.text):
                files.append(words[position])
            position += 1
            continue
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            while position < len(words) and words[position].text not in (";", "+"):
                position += 1
            position += 1
            continue
        return Reading(problem=f"the option {word.display} is not one of those that only read")
    return Reading((*roots, *files))


def _lists_archive(words: Sequence[ShellWord]) -> Reading:
    """Judge `tar -tf FILE` in its usual spellings."""
    if (
        len(words) == 2
        and re.fullmatch(r"-?t[vzjJ]*f", words[0].text)
        and words[1].is_known
        and not re.search(r"^-|:", words[1].text)
    ):
        return Reading((words[1],))
    return Reading(problem="only the list of one archive is reading")


def _lists_zip(words: Sequence[ShellWord]) -> Reading:
    """Judge `unzip -l FILE`."""
    if len(words) == 2 and words[0].text in ("-l", "-v", "-t") and words[1].is_known and words[1].text[:1] != "-":
        return Reading((words[1],))
    return Reading(problem="only the list of one archive is reading")


def _judge_pager(arguments: Arguments) -> str:
    return "it begins with a command" if any(word.text.startswith("+") for word in arguments.operands) else ""


def _judge_date(arguments: Arguments) -> str:
    return "" if all(word.text.startswith("+") for word in arguments.operands) else "it may set the clock"


HASHES = Reader(
    "-bctwz --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn", is_harmless=True
)
GREP = Reader(
    "-EFGPiwxzsvVbnHhoqaILlcTZUyurR -e= -f@ -m= -d= -D= -A= -B= -C= -# --extended-regexp --fixed-strings "
    "--basic-regexp "
    "--perl-regexp --regexp= --file@ --ignore-case --no-ignore-case --word-regexp --line-regexp --null-data "
    "--no-messages "
    "--invert-match --max-count= --byte-offset --line-number --line-buffered --with-filename --no-filename --label= "
    "--only-matching --quiet --silent --binary-files= --text --directories= --devices= --recursive "
    "--dereference-recursive --include= --exclude= --exclude-from@ --exclude-dir= --files-without-match "
    "--files-with-matches --count --initial-tab --null --before-context= --after-context= --context= "
    "--group-separator= --no-group-separator --color? --colour? --binary",
    "text files",
    text_options=("-e", "--regexp", "-f", "--file"),
    tree_options=("-r", "-R", "--recursive", "--dereference-recursive"),
    is_harmless=True,
)
LISTING = Reader(
    "-1AaBbCcdFfGgHhiklLmNnopqQrRsStuUvxXZD -I= -T= -w= --all --almost-all --author --escape --block-size= "
    "--ignore-backups --color? --directory --dired --classify? --file-type --format= --full-time "
    "--group-directories-first --no-group --human-readable --si --dereference-command-line "
    "--dereference-command-line-symlink-to-dir --hide= --hyperlink? --indicator-style= --inode --ignore= --kibibytes "
    "--dereference --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name "
    "--quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= --width= --context --zero",
    is_harmless=True,
)
AWK = Reader("-F= -v= --field-separator= --assign=", "text files", permutes=False, judge=_judge_awk)
SED = Reader(
    "-nErsuzl -e= -l= --quiet --silent --expression= --regexp-extended --separate --unbuffered --null-data "
    "--line-length= --posix --debug --sandbox",
    "text files",
    text_options=("-e", "--expression"),
    judge=_judge_sed,
)

READERS: Mapping[str, Reader | Judge] = {
    **dict.fromkeys(("echo", "true", "false", ":", "seq", "sleep", "expr"), _texts),
    **dict.fromkeys(("test", "["), _checks_files),
    "printf": _prints,
    "read": Reader("-rs -d= -n= -t= -p= -u=", "texts"),
    "pwd": Reader("-LP --logical --physical", "none"),
    **dict.fromkeys(("whoami", "arch", "tty", "groups", "logname"), Reader("-s", "none")),
    "id": Reader("-aGgnruZz --group --groups --name --real --user --zero", "texts"),
    "uname": Reader("-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine", "none"),
    "nproc": Reader("--all --ignore=", "none"),
    "uptime": Reader("-ps --pretty --since", "none"),
    "free": Reader("-bkmghwltv -s= -c= --human --wide --total --mega --giga --kilo --bytes --si", "none"),
    "df": Reader(
        "-ahHiklPT -B= -t= -x= --all --human-readable --si --inodes --local --portability --print-type "
        "--total --output?"
    ),
    "locale": Reader("-akmcv", "texts"),
    "cal": Reader("-1 -3jmnswyY -A= -B=", "texts"),
    "cd": Reader("-LPe", max_operands=1),
    "pushd": Reader("-n", max_operands=1),
    "popd": Reader("-n", "none"),
    "dirs": Reader("-lpv", "none"),
    "cat": Reader(
        "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
        is_harmless=True,
    ),
    "tac": Reader("-br -s= --before --regex --separator=", is_harmless=True),
    "rev": Reader(is_harmless=True),
    "head": Reader("-qvz -n= -c= -# --lines= --bytes= --quiet --silent --verbose --zero-terminated", is_harmless=True),
    "tail": Reader(
        "-qvzfFr -n= -c= -s= -# --lines= --bytes= --quiet --silent --verbose --zero-terminated --follow? "
        "--retry --pid= "
        "--max-unchanged-stats= --sleep-interval=",
        is_harmless=True,
    ),
    "wc": Reader("-cmlLw --bytes --chars --lines --max-line-length --words --total=", is_harmless=True),
    "nl": Reader("-p -b= -d= -f= -h= -i= -l= -n= -s= -v= -w= --body-numbering= --number-width=", is_harmless=True),
    "cut": Reader(
        "-nsz -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --complement --only-delimited "
        "--output-delimiter= --zero-terminated",
        is_harmless=True,
    ),
    "tr": Reader("-cCdst --complement --delete --squeeze-repeats --truncate-set1", "texts"),
    "fold": Reader("-bs -w= --bytes --spaces --width=", is_harmless=True),
    "fmt": Reader(
        "-cstu -w= -p= -g= -# --crown-margin --split-only --tagged-paragraph --uniform-spacing --width= --prefix="
    ),
    "expand": Reader("-i -t= -# --initial --tabs=", is_harmless=True),
    "unexpand": Reader("-a -t= --all --first-only --tabs=", is_harmless=True),
    "paste": Reader("-sz -d= --serial --zero-terminated --delimiters=", is_harmless=True),
    "join": Reader(
        "-iz -a= -e= -j= -o= -t= -v= -1= -2= --ignore-case --check-order --nocheck-order --header --zero-terminated",
        max_operands=2,
    ),
    "comm": Reader("-123z --check-order --nocheck-order --output-delimiter= --total --zero-terminated", max_operands=2),
    "cmp": Reader("-bls -i= -n= --print-bytes --verbose --silent --quiet --bytes= --ignore-initial="),
    "diff": Reader(
        "-qscueynptTlrNiEZbwBad -C= -U= -W= -F= -x= -X@ -S= -I= -D= -# --normal --brief "
        "--report-identical-files --context? "
        "--unified? --ed --rcs --side-by-side --width= --left-column --suppress-common-lines --show-c-function "
        "--show-function-line= --label= --expand-tabs --initial-tab --tabsize= --suppress-blank-empty --recursive "
        "--no-dereference --new-file --unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case "
        "--exclude= --exclude-from@ --starting-file= --from-file@ --to-file@ --ignore-case --ignore-tab-expansion "
        "--ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines "
        "--ignore-matching-lines= --text --strip-trailing-cr --ifdef= --minimal --horizon-lines= --speed-large-files "
        "--color? --palette=",
        tree_options=("-r", "--recursive"),
        follows_links=True,
    ),
    "stat": Reader("-Lfgtx -c= --dereference --file-system --cached= --format= --printf= --terse", is_harmless=True),
    "du": Reader(
        "-0abcDHhklLmPsSx -d= -B= -t= -X@ --all --apparent-size --bytes --total --dereference "
        "--human-readable --si --summarize --one-file-system --max-depth= --block-size= --threshold= "
        "--time? --time-style= --exclude= --exclude-from@ --count-links --null --inodes",
        is_harmless=True,
    ),
    **dict.fromkeys(("ls", "dir", "vdir"), LISTING),
    "basename": Reader("-az -s= --multiple --suffix= --zero", "texts", is_harmless=True),
    "dirname": Reader("-z --zero", "texts", is_harmless=True),
    "realpath": Reader(
        "-emLPqszZ --canonicalize-existing --canonicalize-missing --logical --physical --quiet "
        "--relative-to@ --relative-base@ --strip --no-symlinks --zero"
    ),
    "readlink": Reader(
        "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet "
        "--silent --verbose --zero"
    ),
    **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"), HASHES),
    "b2sum": Reader("-bctwz -l= --binary --check --length= --tag --text --zero"),
    "shasum": Reader("-btcp -a= --algorithm="),
    "cksum": Reader("-czw -a= --algorithm= --length= --check --zero --untagged --tag"),
    "sum": Reader("-rs"),
    **dict.fromkeys(("base64", "base32"), Reader("-di -w= --decode --ignore-garbage --wrap=", max_operands=1)),
    "od": Reader(
        "-abcdfhilosxvz -A= -j= -N= -S= -t= -w? --address-radix= --skip-bytes= --read-bytes= --strings? "
        "--format= --output-duplicates --width? --traditional --endian="
    ),
    **dict.fromkeys(
        ("hexdump", "hd"),
        Reader("-bcCdovx -e= -f@ -n= -s= --canonical --length= --skip= --no-squeezing --format= --format-file@"),
    ),
    "xxd": Reader(
        "-abCEeipuv -c= -g= -l= -o= -s= ~ps ~plain ~postscript ~bits ~include ~uppercase ~cols= ~len= "
        "~seek= ~groupsize=",
        max_operands=1,
        permutes=False,
    ),
    "uniq": Reader(
        "-cdDiuz -f= -s= -w= --count --repeated --all-repeated? --skip-fields= --group? --ignore-case "
        "--skip-chars= --unique --zero-terminated --check-chars=",
        max_operands=1,
        permutes=False,
    ),
    "strings": Reader("-afow -n= -t= -e= -U= -# --all --print-file-name --bytes= --radix= --encoding="),
    "column": Reader(
        "-tnexLl -c= -s= -o= -N= -R= -T= -H= -O= -E= -W= -l= -J --table --separator= --output-separator= "
        "--table-columns= --json --fillrows"
    ),
    "size": Reader("-ABGdotx -# --format= --radix= --totals"),
    "nm": Reader(
        "-AaBCDfglnoPprSsuvV -t= --demangle? --dynamic --extern-only --defined-only --undefined-only "
        "--numeric-sort --no-sort --size-sort --print-size --reverse-sort"
    ),
    "readelf": Reader(
        "-aehlSsrdVnuW --all --file-header --program-headers --segments --section-headers --symbols --syms "
        "--relocs --dynamic --notes --wide --headers --version-info"
    ),
    **dict.fromkeys(("which", "type"), Reader("-aftpPs", "texts", is_harmless=True)),
    **dict.fromkeys(("less", "more"), Reader("-eEFiIMNnRrSswX", judge=_judge_pager)),
    "bc": Reader("-lqsw --mathlib --quiet --standard", "none"),
    **dict.fromkeys(("grep", "egrep", "fgrep"), GREP),
    "rg": Reader(
        "-isSwxvnNlcoFPHIUa0pqLu. -e= -f@ -g= -t= -T= -A= -B= -C= -m= -M= -r= -d= -j= -E= --regexp= --file@ "
        "--ignore-case "
        "--smart-case --case-sensitive --word-regexp --line-regexp --invert-match --line-number --no-line-number "
        "--files-with-matches --files-without-match --count --count-matches --only-matching --fixed-strings --pcre2 "
        "--with-filename --no-filename --no-ignore --no-ignore-vcs --hidden --glob= --iglob= --type= --type-not= "
        "--type-list --after-context= --before-context= --context= --max-count= --max-columns= --max-depth= "
        "--max-filesize= --multiline --multiline-dotall --replace= --json --vimgrep --heading --no-heading --column "
        "--color= --colors= --pretty --quiet --files --sort= --sortr= --stats --trim --text --null --passthru --follow "
        "--no-messages --no-config --one-file-system --threads= --encoding= --debug --trace --unrestricted "
        "--block-buffered",
        "text files",
        text_options=("-e", "--regexp", "-f", "--file", "--files", "--type-list"),
    ),
    **dict.fromkeys(
        ("fd", "fdfind"),
        Reader(
            "-HIusiagpL0q1 -e= -t= -d= -E= -c= -S= -o= -j= --hidden --no-ignore --no-ignore-vcs --case-sensitive "
            "--ignore-case --glob --regex --fixed-strings --absolute-path --full-path --follow --print0 --extension= "
            "--type= --max-depth= --min-depth= --exact-depth= --exclude= --color= --size= --changed-within= "
            "--changed-before= --owner= --max-results= --quiet --strip-cwd-prefix",
            "text files",
        ),
    ),
    "jq": Reader(
        "-nrRajscCMSe --null-input --raw-output --join-output --raw-input --slurp --compact-output --color-output "
        "--monochrome-output --sort-keys --tab --ascii-output --exit-status --unbuffered --stream --seq --indent=",
        "text files",
        judge=_judge_jq,
    ),
    "numfmt": Reader(
        "-z -d= --from= --to= --field= --format= --grouping --header? --padding= --round= --suffix= "
        "--invalid= --delimiter= --from-unit= --to-unit=",
        "texts",
    ),
    "tsort": Reader(max_operands=1),
    "factor": Reader("-h --exponents", "texts"),
    "shuf": Reader("-erz -i= -n= --echo --input-range= --head-count= --repeat --zero-terminated", max_operands=1),
    "iconv": Reader("-cls -f= -t= --from-code= --to-code= --list --silent"),
    "pr": Reader("-acdfFJmnrtTv -D= -e? -h= -i? -l= -N= -o= -s? -S? -w= -W= -#"),
    "file": Reader(
        "-bhikLNnprsv0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference "
        "--keep-going --raw --print0 --extension --no-pad"
    ),
    "date": Reader(
        "-Ru -d= -r@ -I? --date= --reference@ --rfc-3339= --rfc-email --iso-8601? --utc --universal --resolution",
        "texts",
        judge=_judge_date,
    ),
    "tree": Reader(
        "-adfilxDFJXNQpsughCnrtcUvSAq -L= -P= -I= -H= -T= --noreport --dirsfirst --filesfirst --prune "
        "--gitignore --du --si --inodes --device --ignore-case --matchdirs --sort? --charset? --filelimit= "
        "--timefmt= --metafirst --info"
    ),
    "sort": Reader(
        "-bdfgiMhnRrVcCmsuz -k= -t= -S= --ignore-leading-blanks --dictionary-order --ignore-case "
        "--general-numeric-sort "
        "--ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --sort= "
        "--version-sort --check? --debug --key= --merge --stable --buffer-size= --field-separator= "
        "--parallel= --unique "
        "--zero-terminated",
    ),
    "find": _finds,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), AWK),
    **dict.fromkeys(("sed", "gsed"), SED),
    "tar": _lists_archive,
    "unzip": _lists_zip,
    "zipinfo": Reader("-1 -2 -slmvhtTz"),
    "command": Reader("-vV", "texts", is_harmless=True),
    "hostname": Reader("-fsdiIA --fqdn --long --short --domain --ip-address --all-ip-addresses --all-fqdns", "none"),
    "getconf": Reader("-a", "texts"),
    "lscpu": Reader("-aJbcexy -p? --all --json --extended? --parse? --bytes", "none"),
    "lsblk": Reader("-abdDfiJlmnOpPrStTzX -o= -I= -e= -x= --all --json --list --paths --fs --output=", "files"),
    "cloc": Reader("--quiet --json --csv --md --by-file"),
    **dict.fromkeys(("tokei", "scc"), Reader("-f -e= -s= -t= --sort= --files --exclude= --type=")),
    "bat": Reader(
        "-npAPu -l= -r= -H= --number --plain --show-all --language= --line-range= --highlight-line= "
        "--style= --color= --decorations= --theme= --no-paging"
    ),
    "look": Reader("-abdf -t=", "text files"),
    "pip": Reader(
        "-vqV -f= --format= --local --user --not-required --verbose --files "
        "--exclude= --all --path@ --disable-pip-version-check",
        "texts",
        judge=lambda arguments: (
            ""
            if [word.text for word in arguments.operands[:1]] in (["list"], ["show"], ["freeze"], ["check"])
            else "only lists of packages are reading"
        ),
    ),
}
"""Name of each program that only reads → its options and operands, or the function that judges its words."""
HIDDEN_OPTIONS = re.compile(r"-[a-zA-Z0-9]*[u.]|--hidden|--unrestricted|--no-ignore")


def judge_reader(name: str, words: Sequence[ShellWord]) -> Reading | None:
    """Return what a program that only reads may read, or None if it is not known to only read.

    Args:
        name: The name of the program without its folder.
        words: Its arguments.
    """
    reader = READERS.get("pip" if name == "pip3" else name)
    if reader is None or (name == "command" and (not words or words[0].text not in ("-v", "-V"))):
        return None
    reading = reader.read(words) if isinstance(reader, Reader) else reader(words)
    if name == "rg" and not reading.problem:
        # it searches folders without an option
        texts = [word.text for word in words]
        return Reading(
            reading.files,
            reading.files or (literal("."),),
            follows_links=any(re.match(r"-[a-zA-Z0-9]*L|--follow", text) for text in texts),
            shows_hidden=any(HIDDEN_OPTIONS.match(text) for text in texts),
        )
    return reading
