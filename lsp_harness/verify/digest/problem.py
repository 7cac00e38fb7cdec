"""A problem that a tool prints, by path and line, and the words by which tools name its severity in many languages.

A `Finding`, in contrast, is a byte range of one text.
"""

import re
from dataclasses import dataclass
from types import MappingProxyType

from lsp_harness.verify.finding import Severity

_ERRORS = (
    # English first, then the languages of gcc, clang and javac
    "error|fatal error|internal compiler error|fatal|Fehler|schwerwiegender Fehler|interner Compiler-Fehler"
    "|erreur|erreur fatale|erreur interne du compilateur|error fatal|error interno del compilador"
    "|errore|errore fatale|erro|erro fatal|エラー|致命的エラー|致命的なエラー|内部コンパイラエラー"
    "|错误|致命错误|严重错误|编译器内部错误|錯誤|嚴重錯誤|ошибка|фатальная ошибка|критическая ошибка"
    "|неисправимая ошибка"
    "|внутренняя ошибка компилятора|помилка|фатальна помилка|błąd|błąd krytyczny|hata|ölümcül hata"
    "|오류|치명적 오류|심각한 오류|에러|fout|fatale fout|interne compilerfout|fel|ödesdigert fel|internt kompilatorfel"
    "|fejl|fatal fejl|intern oversætterfejl|feil|virhe|vakava virhe|kääntäjän sisäinen virhe|chyba|závažná chyba|hiba"
    "|σφάλμα|μοιραίο σφάλμα|εσωτερικό σφάλμα μεταγλωττιστή|eroare|lỗi|lỗi nghiêm trọng|lỗi biên dịch nội bộ"
    "|greška|fatalna greška|interna greška kompajlera|грешка|кобна грешка|унутрашња грешка компилатора"
    "|критична помилка|внутрішня помилка компілятора|önemli hata|derleyici iç hatası|internal kompiler error"
    "|コンパイラ内部エラー|編譯器內部錯誤|error irrecuperable|errore irreversibile|erreur irrécupérable"
    # what gcc has not got
    "|sorry, unimplemented|nicht implementiert|désolé, pas implémenté|lo sentimos, sin implementar|残念ですが未実装です"
    "|对不起，尚未实现|對不起，尚未實作|пока не реализовано|вибачте, не реалізовано|ledsen, inte implementerat"
    "|desværre, ikke implementeret|nije implementirano|извините, није имплементирано|özür, daha gerçeklenmedi"
    "|συγγνώμη, δεν έχει υλοποιηθεί|maaf, tidak terimplementasi|tiếc là chưa thực hiện"
)
_WARNINGS = (
    "warning|warn|Warnung|attention|avertissement|aviso|advertencia|attenzione|avviso|警告|предупреждение|попередження"
    "|ostrzeżenie|uyarı|경고|waarschuwing|let op|varning|advarsel|varoitus|varování|figyelmeztetés|προειδοποίηση"
    "|avertisment|avertizare|avís|cảnh báo|upozorenje|упозорење|peringatan|uyari"
)
_NOTES = (
    "note|notice|info|information|Anmerkung|nota|備考|注意|ノート|注|附注|附註|замечание|примечание|примітка|uwaga|bilgi"
    "|알림|참고|opmerking|noot|anmärkning|bemærkning|huomautus|huom|poznámka|megjegyzés|σημείωση|notă|ghi chú"
    "|anm|bemærk|napomena|напомена|зауваження|catatan"
)
_HINTS = "hint|help|Hinweis"
_SEVERITIES: tuple[tuple[str, Severity], ...] = (
    (_ERRORS, "error"),
    (_WARNINGS, "warning"),
    (_NOTES, "information"),
    (_HINTS, "hint"),
)

SEVERITY_BY_WORD: MappingProxyType[str, Severity] = MappingProxyType(
    {word.casefold(): severity for words, severity in _SEVERITIES for word in words.split("|")}
)
"""The severity of each word, in small letters."""
COLON = "[ \t\u00a0\u202f]*[:：][ \t\u00a0\u202f]*"
"""A pattern of the colon after a word: French has a blank before it, Chinese a wide one."""
_BY_LENGTH = sorted(SEVERITY_BY_WORD, key=len, reverse=True)
ANY_WORD = "(?i:" + "|".join(map(re.escape, _BY_LENGTH)) + ")"
"""A pattern of all these words, the longest first."""
ERROR_WORD = "(?i:" + "|".join(re.escape(word) for word in _BY_LENGTH if SEVERITY_BY_WORD[word] == "error") + ")"
"""A pattern of the words for errors."""


SEVERITY_ORDER: tuple[Severity, ...] = ("error", "warning", "information", "hint")
COLLECTION_CODE = "collection"
"""The code of a problem of a test file that cannot be imported."""
MISSING_MODULE = "ModuleNotFoundError"
"""The start of the message of such a problem if a module is not installed."""
SUMMARY_CODE = "summary"
"""The code of a problem that is known only from the last line of a tool, because the rest of the output is missing."""
TEST_FILE = re.compile(
    r"\.(?:pyi?|ipynb|rst|txt|md|[cm]?[jt]sx?|vue|svelte|rs|go|java|kts?|rb|php|cs|exs?|lua|dart|cc?|cpp|cxx|mm?|swift"
    r"|scala|clj|hs|zig|nim|jl|bats|sh)$"
)
"""The end of a path of a file with tests, before the names in the id of a test."""


@dataclass(frozen=True, slots=True)
class ToolProblem:
    """One error, warning or failed test in the output of a tool, with its place.

    Attributes:
        message: What is wrong, in the words of the tool.
        path: The file, as the tool prints it; empty if unknown.
        line: The line, counted from 1; 0 if unknown.
        column: The column, counted from 1; 0 if unknown.
        severity: How serious it is.
        code: The rule of the tool.
        test: The name of the failing test, by which its runner can run it; empty if the problem is no failing test.
    """

    message: str
    path: str = ""
    line: int = 0
    column: int = 0
    severity: Severity = "error"
    code: str = ""
    test: str = ""

    @property
    def place(self) -> str:
        """The known part of `path:line:column`."""
        numbers = [str(number) for number in (self.line, self.column) if number > 0] if self.line > 0 else []
        return ":".join([self.path, *numbers]) if self.path else ""

    @property
    def failed_id(self) -> str:
        """The failing test, or the path of a test file that cannot be imported. Empty for other problems."""
        return self.test or (self.path if self.code == COLLECTION_CODE else "")

    @property
    def title(self) -> str:
        """The name of the failing test without its file, or the path of a test file that cannot be imported."""
        path, separator, name = self.failed_id.partition("::")
        # a package of Go has no file in front of its tests
        is_place = TEST_FILE.search(path) or ("/" in path and " " not in path)
        return name if separator and is_place else self.failed_id

    @property
    def lacks_module(self) -> bool:
        """Return whether a test file cannot be imported because a module is missing. No edit of code installs it."""
        return self.code == COLLECTION_CODE and self.message.startswith(MISSING_MODULE)

    @property
    def feedback(self) -> str:
        """The line about the problem in a prompt, in the form of `Check.format_finding`."""
        return f"TEST FAIL: {self.title} — {self.message}" if self.failed_id else self.message


def parse_severity(word: str) -> Severity:
    """Return the severity that a tool calls `word`, in any language. An unknown word is an error."""
    return SEVERITY_BY_WORD.get(word.casefold(), "error")


def parse_number(digits: str) -> int:
    """Return the number of a line or column, or 0 if the text is too long for one or no number."""
    return int(digits) if len(digits) < 10 and digits.isdecimal() else 0
