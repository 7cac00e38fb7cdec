"""The programs that only read: one entry for each, with the options that keep it so.

Sources: the manuals of GNU coreutils 9, findutils 4.9, grep 3.8, diffutils 3.8, procps 4, file 5.44, jq 1.6 and ripgrep
14. A new entry or option needs a look at the manual.
"""

import re
from collections.abc import Mapping, Sequence

from lsp_harness.permission.shell.readers import (
    Judge,
    Reader,
    Reading,
    judge_awk,
    judge_date,
    judge_find,
    judge_jq,
    judge_pager,
    judge_printf,
    judge_sed,
    judge_tar,
    judge_test,
    judge_texts,
    judge_unzip,
)
from lsp_harness.syntax.shell.shell_words import ShellWord, literal

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
AWK = Reader("-F= -v= --field-separator= --assign=", "text files", permutes=False, is_program=True, judge=judge_awk)
SED = Reader(
    "-nErsuzl -e= -l= --quiet --silent --expression= --regexp-extended --separate --unbuffered --null-data "
    "--line-length= --posix --debug --sandbox",
    "text files",
    text_options=("-e", "--expression"),
    is_program=True,
    judge=judge_sed,
)

READERS: Mapping[str, Reader | Judge] = {
    **dict.fromkeys(("echo", "true", "false", ":", "seq", "sleep", "expr"), judge_texts),
    **dict.fromkeys(("test", "["), judge_test),
    "printf": judge_printf,
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
        searches_operands=True,
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
        has_clusters=False,
    ),
    "uniq": Reader(
        "-cdDiuz -f= -s= -w= --count --repeated --all-repeated? --skip-fields= --group? --ignore-case "
        "--skip-chars= --unique --zero-terminated --check-chars=",
        max_operands=1,
        permutes=False,
    ),
    "strings": Reader(
        "-afow -n= -t= -e= -U= -# --all --print-file-name --bytes= --radix= --encoding=", takes_lists=True
    ),
    "column": Reader(
        "-tnexLl -c= -s= -o= -N= -R= -T= -H= -O= -E= -W= -l= -J --table --separator= --output-separator= "
        "--table-columns= --json --fillrows"
    ),
    "size": Reader("-ABGdotx -# --format= --radix= --totals", takes_lists=True),
    "nm": Reader(
        "-AaBCDfglnoPprSsuvV -t= --demangle? --dynamic --extern-only --defined-only --undefined-only "
        "--numeric-sort --no-sort --size-sort --print-size --reverse-sort",
        takes_lists=True,
    ),
    "readelf": Reader(
        "-aehlSsrdVnuW --all --file-header --program-headers --segments --section-headers --symbols --syms "
        "--relocs --dynamic --notes --wide --headers --version-info",
        takes_lists=True,
    ),
    **dict.fromkeys(("which", "type"), Reader("-aftpPs", "texts", is_harmless=True)),
    **dict.fromkeys(("less", "more"), Reader("-eEFiIMNnRrSswX", judge=judge_pager)),
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
        searches_operands=True,
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
        is_program=True,
        judge=judge_jq,
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
        judge=judge_date,
    ),
    "tree": Reader(
        "-adfilxDFJXNQpsughCnrtcUvSAq -L= -P= -I= -H= -T= --noreport --dirsfirst --filesfirst --prune "
        "--gitignore --du --si --inodes --device --ignore-case --matchdirs --sort? --charset? --filelimit= "
        "--timefmt= --metafirst --info",
        has_clusters=False,
    ),
    "sort": Reader(
        "-bdfgiMhnRrVcCmsuz -k= -t= -S= --ignore-leading-blanks --dictionary-order --ignore-case "
        "--general-numeric-sort "
        "--ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --sort= "
        "--version-sort --check? --debug --key= --merge --stable --buffer-size= --field-separator= "
        "--parallel= --unique "
        "--zero-terminated",
    ),
    "find": judge_find,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), AWK),
    **dict.fromkeys(("sed", "gsed"), SED),
    "tar": judge_tar,
    "unzip": judge_unzip,
    "zipinfo": Reader("-1 -2 -slmvhtTz"),
    "command": Reader("-vV", "texts", is_harmless=True),
    # its other options ask servers for names
    "hostname": Reader("-sI --short --all-ip-addresses", "none"),
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


def judge_reader(name: str, words: Sequence[ShellWord]) -> Reading | None:
    """Return what a program that only reads may read, or None if it is not known to only read.

    Args:
        name: The name of the program without its folder.
        words: The arguments of the program.
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
            reading.trees or (literal("."),),
            follows_links=any(re.match(r"-[a-zA-Z0-9]*L|--follow", text) for text in texts),
        )
    return reading
