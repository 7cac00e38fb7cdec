"""The published forms of the tokens of vendors: what each begins with, and what follows at least.

Only forms are here that are hardly anything else. A token without a prefix of its own, such as 32 hexadecimal digits,
cannot be told from other texts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

WORD = r"\w"
NAME = r"[\w-]"
HEX = r"[0-9a-f]"
UPPER = r"[0-9A-Z]"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
BASE64 = r"[\w+/=-]"
VENDOR_PREFIXES: dict[str, tuple[tuple[str, str], ...]] = {
    "1Password": (("ops_eyJ", BASE64 + "{100}"), ("A3-", r"[0-9A-Z]{6}-[0-9A-Z-]{25}")),
    "Adafruit": (("aio_", "[0-9A-Za-z]{28}"),),
    "Adobe": (("p8e-", "[0-9A-Za-z]{32}"),),
    "age": (("AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),),
    "Airtable": (("pat", r"[0-9A-Za-z]{14}\.[0-9a-f]{64}"),),
    "Alibaba Cloud": (("LTAI", "[0-9A-Za-z]{20}"),),
    "Amazon": (
        *((prefix, r"[0-9A-Z]{16}\b") for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")),
        ("ABSK", "[0-9A-Za-z+/]{100}"),
    ),
    "Anyscale": (("esecret_", WORD + "{32}"),),
    "Apify": (("apify_api_", WORD + "{30}"),),
    "Atlassian": (("ATATT3", NAME + "{100}"), ("ATCTT3", NAME + "{100}"), ("ATBB", "[0-9A-Za-z]{28}")),
    "Baidu": (("bce-v3/ALTAK-", r"\w{16,}/[0-9a-f]{40}"),),
    "Brevo": (("xkeysib-", HEX + "{64}"), ("xsmtpsib-", HEX + "{64}")),
    "Buildkite": (("bkua_", WORD + "{40}"),),
    "Cerebras": (("csk-", "[0-9a-z]{40}"),),
    "CircleCI": (("CCIPAT_", WORD + "{30}"),),
    "ClickHouse": (("4b1d", r"[0-9A-Za-z]{38}\b"),),
    "Clojars": (("CLOJARS_", "[0-9a-z]{60}"),),
    "Cloudflare": (("v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100}"),),
    "Contentful": (("CFPAT-", NAME + "{43}"),),
    "Cursor": (("key_", HEX + "{64}"),),
    "Databricks": (("dapi", HEX + "{32}"),),
    "DigitalOcean": tuple((prefix, HEX + "{64}") for prefix in ("dop_v1_", "doo_v1_", "dor_v1_")),
    "Discord": (
        ("discord.com/api/webhooks/", r"\d+/[\w-]{60}"),
        ("discordapp.com/api/webhooks/", r"\d+/[\w-]{60}"),
    ),
    "Docker": (("dckr_pat_", NAME + "{27}"), ("dckr_oat_", NAME + "{27}")),
    "Doppler": tuple(
        (f"dp.{kind}.", r"(?:\w+\.)?[0-9A-Za-z]{40}") for kind in ("pt", "st", "ct", "sa", "scim", "audit")
    ),
    "Duffel": (("duffel_test_", NAME + "{43}"), ("duffel_live_", NAME + "{43}")),
    "Dynatrace": (("dt0c01.", r"[0-9A-Z]{24}\.[0-9A-Z]{64}"),),
    "E2B": (("e2b_", HEX + "{40}"),),
    "EasyPost": (("EZAK", "[0-9A-Za-z]{54}"), ("EZTK", "[0-9A-Za-z]{54}")),
    "ElevenLabs and others": (("sk_", HEX + "{48}"),),
    "Facebook": (("EAAC", "[0-9A-Za-z]{80}"), ("EAAM", "[0-9A-Za-z]{80}")),
    "Figma": (("figd_", NAME + "{40}"),),
    "Firecrawl": (("fc-", HEX + "{32}"),),
    "Fireworks": (("fw_", r"[0-9A-Za-z]{22,}\b"),),
    "Flutterwave": (("FLWSECK-", "[0-9A-Za-z]{32}"), ("FLWSECK_TEST-", "[0-9A-Za-z]{12}")),
    "Fly.io": (
        ("fo1_", NAME + "{43}"),
        ("fm1r_", BASE64 + "{100}"),
        ("fm1a_", BASE64 + "{100}"),
        ("fm2_", BASE64 + "{100}"),
    ),
    "Frame.io": (("fio-u-", NAME + "{64}"),),
    "GitHub": (
        *((f"gh{kind}_", WORD + "{36}") for kind in "oprsu"),
        ("github_pat_", WORD + "{22}"),
    ),
    "GitLab": (
        *(
            (f"gl{kind}-", NAME + "{20}")
            for kind in ("pat", "ptt", "dt", "rt", "rtr", "cbt", "ft", "imt", "agent", "oas", "soat", "ffct", "wt")
        ),
        ("GR1348941", NAME + "{20}"),
        ("_gitlab_session=", "[0-9a-z]{32}"),
    ),
    "Google": (("AIza", NAME + "{35}"), ("GOCSPX-", NAME + "{28}"), ("ya29.", NAME + "{40}"), ("1//0", NAME + "{40}")),
    "Grafana": (("glsa_", r"[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}"), ("glc_", BASE64 + "{32}")),
    "Groq": (("gsk_", "[0-9A-Za-z]{40}"),),
    "Harness": tuple((f"{kind}.", r"[\w-]{22}\.[0-9a-f]{24}\.[0-9A-Za-z]{20}") for kind in ("pat", "sat")),
    "HashiCorp": (
        *((f"hv{kind}.", NAME + "{24}") for kind in "sbr"),
        # the name of the token comes before it
        ("atlasv1.", NAME + "{60}"),
    ),
    "Heroku": (("HRKU-", NAME + "{36}"),),
    "HubSpot": (("pat-na1-", HEX + "{8}-"), ("pat-eu1-", HEX + "{8}-")),
    "Hugging Face": (("hf_", WORD + "{30}"), ("api_org_", "[0-9A-Za-z]{34}")),
    "Infracost": (("ico-", "[0-9A-Za-z]{32}"),),
    "JFrog": (("AKCp", "[0-9A-Za-z]{69}"), ("cmVmd", "[0-9A-Za-z]{59}")),
    "Jina": (("jina_", NAME + "{40}"),),
    "LangSmith": tuple((f"lsv2_{kind}_", HEX + "{32}") for kind in ("pt", "sk")),
    "Langfuse": (("sk-lf-", UUID),),
    "LaunchDarkly": tuple((f"{kind}-", UUID) for kind in ("sdk", "mob", "api")),
    "Linear": (("lin_api_", WORD + "{40}"), ("lin_oauth_", HEX + "{64}")),
    "Mailgun": (("key-", HEX + "{32}"),),
    "Microsoft": (
        ("AccountKey=", r"[0-9A-Za-z+/]{80,}={0,2}"),
        ("SharedAccessKey=", r"[0-9A-Za-z+/]{40,}={0,2}"),
        ("webhook.office.com/webhookb2/", NAME + "{36}"),
    ),
    "Mapbox": (("sk.eyJ", r"[\w-]{40,}\.[\w-]{20}"), ("pk.eyJ", r"[\w-]{40,}\.[\w-]{20}")),
    "Neon": (("napi_", "[0-9a-z]{60}"),),
    "Netlify": (("nfp_", WORD + "{36}"),),
    "New Relic": (
        ("NRAK-", UPPER + "{27}"),
        ("NRJS-", "[0-9a-f]{19}"),
        ("NRII-", NAME + "{32}"),
        ("NRRA-", HEX + "{40}"),
    ),
    "Nomic": (("nk-", NAME + "{43}"),),
    "Notion": (("ntn_", "[0-9A-Za-z]{43}"), ("secret_", "[0-9A-Za-z]{43}")),
    "npm": (("npm_", WORD + "{36}"),),
    "NVIDIA": (("nvapi-", NAME + "{60}"),),
    "Octopus": (("API-", r"[0-9A-Z]{26}\b"),),
    "OpenAI, Anthropic and others": (("sk-", NAME + "{32}"),),
    "OpenShift": (("sha256~", NAME + "{43}"),),
    "Perplexity": (("pplx-", "[0-9A-Za-z]{48}"),),
    "Pinecone": (("pcsk_", WORD + "{40}"),),
    "Plaid": tuple((f"access-{kind}-", UUID) for kind in ("sandbox", "development", "production")),
    "PlanetScale": tuple((f"pscale_{kind}_", r"[\w.=-]{32}") for kind in ("tkn", "pw", "oauth")),
    "PostHog": (("phx_", WORD + "{40}"), ("phs_", WORD + "{40}")),
    "Postman": (("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),),
    "Prefect": (("pnu_", "[0-9A-Za-z]{36}"), ("pnb_", "[0-9A-Za-z]{36}")),
    "Pulumi": (("pul-", HEX + "{40}"),),
    "PyPI": (("pypi-", NAME + "{50}"),),
    "Razorpay": (("rzp_live_", "[0-9A-Za-z]{14}"), ("rzp_test_", "[0-9A-Za-z]{14}")),
    "ReadMe": (("rdme_", "[0-9a-z]{70}"),),
    "Render": (("rnd_", r"[0-9A-Za-z]{28}\b"),),
    "Replicate": (("r8_", "[0-9A-Za-z]{37}"),),
    "Resend": (("re_", r"[0-9A-Za-z]{8}_[0-9A-Za-z]{24}"),),
    "RubyGems": (("rubygems_", HEX + "{48}"),),
    "Scalingo": (("tk-us-", NAME + "{48}"),),
    "SendGrid": (("SG.", r"[\w-]{22}\.[\w-]{43}"),),
    "Sentry": (("sntrys_", BASE64 + "{80}"), ("sntryu_", HEX + "{64}")),
    "SettleMint": tuple((f"sm_{kind}_", "[0-9A-Za-z]{16}") for kind in ("aat", "pat", "sat")),
    "Shippo": (("shippo_live_", HEX + "{40}"), ("shippo_test_", HEX + "{40}")),
    "Shopify": tuple((prefix, "[0-9A-Fa-f]{32}") for prefix in ("shpat_", "shpca_", "shppa_", "shpss_")),
    "Slack": (
        *((f"xox{kind}-", NAME + "{10}") for kind in "abeoprsdc"),
        ("xoxe.xox", NAME + "{20}"),
        ("xapp-", NAME + "{40}"),
        ("hooks.slack.com/services/", r"T\w+/B\w+/\w{20}"),
    ),
    "Snyk": (("snyk_uat.", r"[\w.-]{40}"), ("snyk_sat.", r"[\w.-]{40}")),
    "SonarQube": tuple((f"sq{kind}_", HEX + "{40}") for kind in "upa"),
    "Sourcegraph": (("sgp_", r"(?:[0-9A-Za-z]{16}_|local_)?[0-9a-f]{40}"),),
    "Square": (
        ("sq0atp-", NAME + "{22}"),
        ("sq0csp-", NAME + "{43}"),
        ("EAAAE", NAME + "{59}"),
        ("EAAAl", NAME + "{59}"),
    ),
    "Stripe": (
        *((f"{kind}_live_", WORD + "{16}") for kind in ("sk", "rk")),
        *((f"{kind}_test_", "[0-9A-Za-z]{16}") for kind in ("sk", "rk")),
        *((f"{kind}_prod_", "[0-9A-Za-z]{16}") for kind in ("sk", "rk")),
        ("whsec_", "[0-9A-Za-z+/]{32}"),
    ),
    "Stytch": tuple((f"secret-{kind}-", NAME + "{36}") for kind in ("live", "test")),
    "Supabase": (("sbp_", HEX + "{40}"), ("sb_secret_", NAME + "{31}")),
    "Tailscale": (("tskey-", r"\w+-[\w-]{20}"),),
    "Tavily": (("tvly-", r"(?:dev-|prod-)?[0-9A-Za-z]{32}"),),
    # the number of the bot comes before it
    "Telegram": ((":AA", NAME + r"{33}\b"),),
    "Together": (("tgp_v1_", NAME + "{40}"),),
    "Trigger.dev": tuple((f"tr_{kind}_", "[0-9A-Za-z]{20}") for kind in ("dev", "prod", "stg", "pat")),
    "Twilio": (("SK", HEX + r"{32}\b"),),
    "Typeform": (("tfp_", r"[\w.=-]{44}"),),
    "Vercel": (("vercel_blob_rw_", WORD + "{30}"), ("vcp_", "[0-9A-Za-z]{40}")),
    "Voyage": (("pa-", "[0-9A-Za-z_-]{43}"),),
    "Weights & Biases": (("wandb_v1_", WORD + "{60}"),),
    "xAI": (("xai-", "[0-9A-Za-z]{70}"),),
    "Yandex": (("AQVN", NAME + "{35}"), ("t1.", r"[\w-]+\.[\w-]{86}"), ("y0_", NAME + "{50}")),
}
"""Vendor → the fixed beginnings of its tokens, each with the form of what follows at least."""


@dataclass(frozen=True, slots=True)
class TokenForm:
    """The form of one kind of tokens.

    Attributes:
        mark: The characters with which such a token begins. A text without them contains none.
        pattern: The regular expression of the tokens.
    """

    mark: bytes
    pattern: re.Pattern[bytes]


def list_token_forms() -> Iterator[TokenForm]:
    """Yield the forms of all vendors."""
    for forms in VENDOR_PREFIXES.values():
        for prefix, rest in forms:
            # the pattern begins with fixed characters and then looks back: one that begins with `\b` is tried at every
            # byte, which takes a hundred times as long
            start = re.escape(prefix)
            pattern = rf"{start}(?<!\w{start}){rest}" if prefix[0].isalnum() else start + rest
            yield TokenForm(prefix.encode(), re.compile(pattern.encode()))
    # a JSON web token. The lookbehind allows only one start in a run of such characters: else a text that repeats `eyJ`
    # takes minutes
    yield TokenForm(b"eyJ", re.compile(rb"eyJ(?<![\w-]eyJ)[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]{10,}"))
