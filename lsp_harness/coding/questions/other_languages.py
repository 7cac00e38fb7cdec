"""Prompts in other languages than English that name code of the folder, written anew in English.

Only the words by which people ask and order are known, in German, French, Spanish, Portuguese, Italian, Russian,
Chinese, Japanese and Turkish. What the rest says is lost, so an order with more words keeps the prompt.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|::|#)[A-Za-z_$][A-Za-z0-9_$]*)*")
FILE = re.compile(r"[\w./-]*\w\.[A-Za-z]\w{0,4}(?![\w.(])", re.ASCII)
MAX_CHARS = 300


@dataclass(frozen=True, slots=True)
class ForeignForm:
    """A kind of prompts: the words of which it has some, and what it means in English.

    Attributes:
        words: Matches the words.
        english: The prompt, with `{name}`, `{new}` for the new name of a rename, and `{prompt}` for the whole prompt.
    """

    words: re.Pattern[str]
    english: str


def _form(words: str, english: str) -> ForeignForm:
    return ForeignForm(re.compile(words, re.IGNORECASE), english)


WHERE = r"\bwo\b|¿?\bd[oó]nde\b|\boù\b|\bonde\b|\bdov'?[eè]\b|где|在哪|哪里|哪个文件|どこ|\bnerede\b"
WHO = (
    rf"{WHERE}|\bwer\b|\bwelche\w*|qui[eé]n(?:es)?|qu[eé] (?:funci\w+|m[eé]todos|c[oó]digo)|cu[aá]l\w*|\bqui\b|"
    rf"quel(?:le)?s?|"
    r"\bquem\b|\bquais\b|que fun\w+|\bchi\b|\bquali\b|кто|какие|谁|哪些|誰|何が|どの|\bhangi\b|\bkim\b"
)
CALL = (
    r"\bruf(?:t|en|e)\b|aufgerufen|verwende\w*|benutz\w*|genutzt|nutzt|llam[ao]\w*|\busa\w*|utili[sz]\w*|invoca\w*|appel\w*|chama\w*|"
    r"chiama\w*|usat[ao]|вызыва\w*|использу\w*|调用|使用|呼|使われ|使って|çağır\w*|kullan\w*"
)
FORMS = (
    _form(
        r"rückgängig|\bdeshac\w*|\bdeshaz\b|\bannule\w*|\bdesfaz\w*|\bannulla\w*|отмени\w*|撤销|撤回|元に戻|geri al",
        "undo",
    ),
    _form(
        r"\bumbenenn\w*|\bbenenn\w*|\brenombra\w*|\brenomm\w*|\brenomei\w*|\brinomin\w*|переименуй\w*|重命名|改名|リネーム|"
        r"名前を.*変|yeniden adlandır\w*",
        "rename {name} to {new}",
    ),
    _form(
        r"(?=.*(?:docstring|dokumentation\w*|documentaci[oó]n|documenta[cç][aã]o|documentazione|документац\w*|文档|ドキュメント))"
        r".*(?:füg\w*|ergänz\w*|schreib\w*|añad\w*|agreg\w*|escrib\w*|ajout\w*|écri\w*|adicion\w*|escrev\w*|aggiung\w*|"
        r"scriv\w*|добав\w*|напиши|添加|加上|追加|書い|ekle\w*)",
        "add a docstring to {name}",
    ),
    _form(
        r"(?=.*(?:tests?\b|prueba\w*|тест\w*|测试|テスト))"
        r".*(?:füg\w*|schreib\w*|ergänz\w*|añad\w*|agreg\w*|escrib\w*|ajout\w*|écri\w*|adicion\w*|escrev\w*|aggiung\w*|"
        r"scriv\w*|добав\w*|напиши|添加|编写|写|追加|書い|ekle\w*|yaz\w*)",
        "write tests for {name}",
    ),
    _form(rf"(?=.*(?:tests?\b|prueba\w*|тест\w*|测试|テスト)).*(?:{WHO})", "which tests run {name}?"),
    _form(rf"(?=.*(?:{CALL})).*(?:{WHO})|(?=.*(?:调用|呼び出)).*(?:谁|誰)", "who calls {name}?"),
    _form(WHERE, "where is {name} defined?"),
    _form(
        r"\bzeig\w*|\bmu[eé]str\w*|\bmontr\w*|\bmostr\w*|\bm[oó]stra\w*|покажи\w*|显示|给我看|見せて|表示|göster\w*",
        "show me the code of {name}",
    ),
    _form(
        r"\breparier\w*|\bbehebe?\w*|\bkorrigier\w*|\barregl\w*|\bcorr[ií]g\w*|\brépar\w*|\bconsert\w*|исправь\w*|почини\w*|"
        r"修复|修正|修复|直して|düzelt\w*",
        "fix {name}: {prompt}",
    ),
    _form(
        r"\bwas (?:macht|tut|bedeutet|ist)\b|\bwie funktioniert|\bwozu\b|\berkl[äa]r\w*|\bwarum\b|\bqu[eé] "
        r"(?:hace|es|significa)\b|"
        r"\bc[oó]mo funciona|\bpara qu[eé]\b|\bexpl[ií]ca\w*|\bexpli(?:que\w*|quez)\b|\bpor qu[eé]\b|\bque fait|"
        r"\bqu'est-ce|\bà quoi sert|"
        r"\bcomment (?:fonctionne|marche)|\bpourquoi\b|\bo que (?:faz|é)\b|\bpara que serve|\bcosa fa\b|\bcome "
        r"funziona|"
        r"\bspieg\w*|\bperch[éè]|что (?:делает|такое)|как работает|зачем|почему|объясни\w*|做什么|是什么|"
        r"作用|怎么|解释|为什么|干什么|何を|説明|役割|なぜ|何です|ne yap\w*|nasıl çalış\w*|açıkla\w*",
        "what does {name} do?",
    ),
)
"""The kinds of prompts, the surest first."""
ENGLISH = re.compile(
    r"\b(?:the|is|are|does|what|where|which|who|why|please|make|add|fix|should|show|tell|explain|find|with|when|this|that|"
    r"calls?|undo|it|an|needs?|of|and|from|by|return|type|must|if|not|get|has|have|use|can|you|my|all|any|new|"
    r"write|create|remove|rename|change)\b",
    re.IGNORECASE,
)


def read_other_language(prompt: str, declared: Collection[str]) -> str:
    """Return the English prompt that one in another language means, or an empty text if it is none of those.

    Args:
        prompt: The prompt of the user.
        declared: The words of the prompt that are names of declarations.
    """
    text = " ".join(prompt.replace("’", "'").split())
    if len(text) > MAX_CHARS or ENGLISH.search(text):
        return ""
    words = [match[0] for match in NAME.finditer(FILE.sub(" ", text))]
    known = [word for word in words if re.split(r"\.|::|#", word)[-1] in declared]
    # a declared plain word may be a word of the other language
    name = next((word for word in known if not word.islower() or "_" in word), known[0] if known else "")
    for form in FORMS:
        if not form.words.search(text):
            continue
        if "{name}" not in form.english:
            return form.english if len(text.split()) <= MAX_UNDO_WORDS else ""
        if not name:
            return ""
        new = next((word for word in reversed(words) if word != name and ("_" in word or not word.islower())), "")
        if "{new}" in form.english and not new:
            return ""
        files = FILE.findall(text)
        place = f"{name} in {files[0]}" if files else name
        return form.english.format(name=place, new=new, prompt=text)
    return ""


MAX_UNDO_WORDS = 5
"""A longer sentence with the word may be about code that undoes something."""
