-- 0001: everything for sale, what is known about it, and where each figure comes from.
--
-- Rules of every table: STRICT; texts are never NULL ('' = not stated); quantities are 0 where not known; money is whole
-- micros (1e-6) of the row's currency; civil days are 'YYYY-MM-DD' text; a reference that may be missing is NULL.
-- Prices are append-only: the one change ever made to a row is closing its open interval.

CREATE TABLE catalog_meta (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    revision    INTEGER NOT NULL CHECK (revision >= 0),
    -- which embedded seed the reference rows came from; another one is merged at the next start
    seed_sha256 TEXT NOT NULL
) STRICT;
INSERT INTO catalog_meta (id, revision, seed_sha256) VALUES (1, 0, '');

CREATE TABLE gpus (
    id              TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    name            TEXT NOT NULL CHECK (name <> ''),
    vendor          TEXT NOT NULL,
    form_factor     TEXT NOT NULL,
    gpu_class       TEXT NOT NULL CHECK (gpu_class <> ''),
    memory_gb       REAL NOT NULL CHECK (memory_gb >= 0),
    memory_type     TEXT NOT NULL,
    mem_bw_gb_s     REAL NOT NULL CHECK (mem_bw_gb_s >= 0),
    bf16_tflops     REAL NOT NULL CHECK (bf16_tflops >= 0),
    fp16_tflops     REAL NOT NULL CHECK (fp16_tflops >= 0),
    fp8_tflops      REAL NOT NULL CHECK (fp8_tflops >= 0),
    fp4_tflops      REAL NOT NULL CHECK (fp4_tflops >= 0),
    int8_tops       REAL NOT NULL CHECK (int8_tops >= 0),
    fp32_tflops     REAL NOT NULL CHECK (fp32_tflops >= 0),
    tf32_tflops     REAL NOT NULL CHECK (tf32_tflops >= 0),
    usable_gib      REAL NOT NULL CHECK (usable_gib >= 0),
    usable_measured INTEGER NOT NULL CHECK (usable_measured IN (0, 1)),
    link_gb_s_bidir REAL NOT NULL CHECK (link_gb_s_bidir >= 0),
    link_type       TEXT NOT NULL,
    pcie_gen        INTEGER NOT NULL CHECK (pcie_gen BETWEEN 0 AND 9),
    tdp_w           REAL NOT NULL CHECK (tdp_w >= 0),
    year            INTEGER NOT NULL,
    rentable        INTEGER NOT NULL CHECK (rentable IN (0, 1)),
    confidence      TEXT NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
    source          TEXT NOT NULL CHECK (source <> ''),
    source_date     TEXT NOT NULL,
    note            TEXT NOT NULL,
    -- a card of unknown memory may be listed, but nothing can be planned on it
    CHECK ((memory_gb > 0 AND usable_gib > 0) OR rentable = 0)
) STRICT;

CREATE TABLE gpu_aliases (
    alias  TEXT NOT NULL PRIMARY KEY CHECK (alias <> '' AND alias = lower(alias)),
    gpu_id TEXT NOT NULL REFERENCES gpus (id)
) STRICT;
CREATE INDEX gpu_aliases_gpu ON gpu_aliases (gpu_id);

CREATE TABLE models (
    id                    TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    name                  TEXT NOT NULL CHECK (name <> ''),
    params                REAL NOT NULL CHECK (params >= 0),
    active_params         REAL NOT NULL CHECK (active_params >= 0),
    layers                INTEGER NOT NULL CHECK (layers >= 0),
    hidden                INTEGER NOT NULL CHECK (hidden >= 0),
    heads                 INTEGER NOT NULL CHECK (heads >= 0),
    kv_heads              INTEGER NOT NULL CHECK (kv_heads >= 0),
    head_dim              INTEGER NOT NULL CHECK (head_dim >= 0),
    intermediate          INTEGER NOT NULL CHECK (intermediate >= 0),
    dense_intermediate    INTEGER NOT NULL CHECK (dense_intermediate >= 0),
    dense_layers          INTEGER NOT NULL CHECK (dense_layers >= 0),
    shared_intermediate   INTEGER NOT NULL CHECK (shared_intermediate >= 0),
    vocab                 INTEGER NOT NULL CHECK (vocab >= 0),
    experts               INTEGER NOT NULL CHECK (experts >= 0),
    experts_per_token     INTEGER NOT NULL CHECK (experts_per_token >= 0),
    moe_every             INTEGER NOT NULL CHECK (moe_every >= 0),
    kv_lora_rank          INTEGER NOT NULL CHECK (kv_lora_rank >= 0),
    q_lora_rank           INTEGER NOT NULL CHECK (q_lora_rank >= 0),
    rope_head_dim         INTEGER NOT NULL CHECK (rope_head_dim >= 0),
    v_head_dim            INTEGER NOT NULL CHECK (v_head_dim >= 0),
    window                INTEGER NOT NULL CHECK (window >= 0),
    full_attention_layers INTEGER NOT NULL CHECK (full_attention_layers >= 0),
    max_context           INTEGER NOT NULL CHECK (max_context >= 0),
    ffn                   TEXT NOT NULL CHECK (ffn IN ('', 'gated', 'plain')),
    tied_embeddings       TEXT NOT NULL CHECK (tied_embeddings IN ('', 'yes', 'no')),
    causal                TEXT NOT NULL CHECK (causal IN ('', 'yes', 'no')),
    qkv_bias              TEXT NOT NULL CHECK (qkv_bias IN ('', 'yes', 'no')),
    qk_norm               TEXT NOT NULL CHECK (qk_norm IN ('', 'yes', 'no')),
    flops_per_sample      REAL NOT NULL CHECK (flops_per_sample >= 0),
    confidence            TEXT NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
    source                TEXT NOT NULL CHECK (source <> ''),
    source_date           TEXT NOT NULL,
    note                  TEXT NOT NULL,
    CHECK (params > 0 OR flops_per_sample > 0)
) STRICT;

CREATE TABLE providers (
    id             TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    name_zh        TEXT NOT NULL CHECK (name_zh <> ''),
    name_en        TEXT NOT NULL CHECK (name_en <> ''),
    kind           TEXT NOT NULL
                   CHECK (kind IN ('local_idc', 'public_cloud', 'marketplace', 'hpc_centre', 'university')),
    city           TEXT NOT NULL CHECK (city <> ''),
    place_zh       TEXT NOT NULL,
    place_en       TEXT NOT NULL,
    tier           TEXT NOT NULL CHECK (tier <> ''),
    support_level  TEXT NOT NULL CHECK (support_level IN ('business_hours', '24x7', 'ticket')),
    data_stays     INTEGER NOT NULL CHECK (data_stays IN (0, 1)),
    serves         INTEGER NOT NULL CHECK (serves IN (0, 1)),
    queue_median_h REAL NOT NULL CHECK (queue_median_h >= 0),
    queue_p90_h    REAL NOT NULL CHECK (queue_p90_h >= queue_median_h),
    job_cap_h      REAL NOT NULL CHECK (job_cap_h >= 0),
    note           TEXT NOT NULL,
    source         TEXT NOT NULL CHECK (source <> ''),
    source_date    TEXT NOT NULL,
    confidence     TEXT NOT NULL
) STRICT;

CREATE TABLE links (
    id            TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    name          TEXT NOT NULL CHECK (name <> ''),
    kind          TEXT NOT NULL CHECK (kind <> ''),
    gb_s_one_way  REAL NOT NULL CHECK (gb_s_one_way > 0),
    note          TEXT NOT NULL,
    source        TEXT NOT NULL CHECK (source <> ''),
    source_date   TEXT NOT NULL
) STRICT;

CREATE TABLE networks (
    id             TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    name_zh        TEXT NOT NULL CHECK (name_zh <> ''),
    name_en        TEXT NOT NULL CHECK (name_en <> ''),
    kind           TEXT NOT NULL CHECK (kind IN ('', 'infiniband', 'roce', 'ethernet')),
    gbps_per_node  REAL NOT NULL CHECK (gbps_per_node > 0),
    rdma           INTEGER NOT NULL CHECK (rdma IN (0, 1)),
    dedicated_line INTEGER NOT NULL CHECK (dedicated_line IN (0, 1)),
    note           TEXT NOT NULL,
    source         TEXT NOT NULL CHECK (source <> ''),
    source_date    TEXT NOT NULL,
    CHECK ((kind = '') = (dedicated_line = 1))
) STRICT;

CREATE TABLE storages (
    id          TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    name_zh     TEXT NOT NULL CHECK (name_zh <> ''),
    name_en     TEXT NOT NULL CHECK (name_en <> ''),
    system      TEXT NOT NULL CHECK (system IN ('nvme', 'nfs', 'lustre', 'gpfs', 'beegfs', 'object')),
    parallel    INTEGER NOT NULL CHECK (parallel IN (0, 1)),
    local       INTEGER NOT NULL CHECK (local IN (0, 1)),
    read_gb_s   REAL NOT NULL CHECK (read_gb_s > 0),
    write_gb_s  REAL NOT NULL CHECK (write_gb_s > 0),
    note        TEXT NOT NULL,
    source      TEXT NOT NULL CHECK (source <> ''),
    source_date TEXT NOT NULL
) STRICT;

CREATE TABLE schedulers (
    id          TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    name        TEXT NOT NULL CHECK (name <> ''),
    note        TEXT NOT NULL,
    source      TEXT NOT NULL CHECK (source <> ''),
    source_date TEXT NOT NULL
) STRICT;

CREATE TABLE tax_codes (
    code       TEXT NOT NULL CHECK (code <> ''),
    name_zh    TEXT NOT NULL CHECK (name_zh <> ''),
    name_en    TEXT NOT NULL CHECK (name_en <> ''),
    rate_bp    INTEGER NOT NULL CHECK (rate_bp BETWEEN 0 AND 10000),
    valid_from TEXT NOT NULL,
    valid_to   TEXT CHECK (valid_to IS NULL OR valid_to > valid_from),
    source     TEXT NOT NULL CHECK (source <> ''),
    PRIMARY KEY (code, valid_from)
) STRICT;

CREATE TABLE skus (
    id                  TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    provider_id         TEXT NOT NULL REFERENCES providers (id),
    region              TEXT NOT NULL,
    gpu_id              TEXT NOT NULL REFERENCES gpus (id),
    gpus_per_node       INTEGER NOT NULL CHECK (gpus_per_node BETWEEN 1 AND 72),
    sold_by_card        INTEGER NOT NULL CHECK (sold_by_card IN (0, 1)),
    max_nodes           INTEGER NOT NULL CHECK (max_nodes >= 1),
    intra               TEXT NOT NULL,
    network_id          TEXT REFERENCES networks (id),
    bandwidth_dedicated INTEGER NOT NULL CHECK (bandwidth_dedicated IN (0, 1)),
    form                TEXT NOT NULL
                        CHECK (form IN ('bare_metal', 'container', 'managed_machine', 'container_cluster')),
    host_memory_gb      REAL NOT NULL CHECK (host_memory_gb >= 0),
    cpu_cores           REAL NOT NULL CHECK (cpu_cores >= 0),
    nvme_gb             REAL NOT NULL CHECK (nvme_gb >= 0),
    tax_code            TEXT NOT NULL CHECK (tax_code <> ''),
    note                TEXT NOT NULL,
    source              TEXT NOT NULL CHECK (source <> ''),
    source_date         TEXT NOT NULL,
    confidence          TEXT NOT NULL
) STRICT;
CREATE INDEX skus_provider ON skus (provider_id);
CREATE INDEX skus_gpu ON skus (gpu_id);
CREATE INDEX skus_network ON skus (network_id);

CREATE TABLE prices (
    id                      TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    subject                 TEXT NOT NULL CHECK (subject IN ('sku', 'network', 'storage', 'egress', 'line', 'software',
                                                             'operations')),
    sku_id                  TEXT REFERENCES skus (id),
    subject_id              TEXT NOT NULL,
    provider_id             TEXT REFERENCES providers (id),
    mode                    TEXT NOT NULL CHECK (mode IN ('hourly', 'monthly', 'annual', 'spot')),
    term_months             INTEGER NOT NULL CHECK (term_months BETWEEN 0 AND 120),
    currency                TEXT NOT NULL CHECK (length(currency) = 3),
    unit                    TEXT NOT NULL CHECK (unit IN ('gpu_hour', 'node_hour', 'gpu_month', 'node_month', 'gpu_year',
                                                          'node_year', 'gb_month', 'gb', 'mbps_month', 'month', 'once')),
    price_micros            INTEGER NOT NULL CHECK (price_micros >= 0),
    high_micros             INTEGER NOT NULL CHECK (high_micros = 0 OR high_micros >= price_micros),
    free_of_charge          INTEGER NOT NULL CHECK (free_of_charge IN (0, 1)),
    tax_included            INTEGER NOT NULL CHECK (tax_included IN (0, 1)),
    granularity_milli_h     INTEGER NOT NULL CHECK (granularity_milli_h > 0),
    deposit_ppm             INTEGER NOT NULL CHECK (deposit_ppm >= 0),
    user_class              TEXT NOT NULL CHECK (user_class IN ('', 'internal', 'partner', 'external')),
    off_peak_only           INTEGER NOT NULL CHECK (off_peak_only IN (0, 1)),
    effective_from          TEXT NOT NULL,
    effective_to            TEXT CHECK (effective_to IS NULL OR effective_to > effective_from),
    observed_on             TEXT NOT NULL,
    state                   TEXT NOT NULL CHECK (state IN ('firm', 'illustrative', 'derived', 'quote_only')),
    rule                    TEXT NOT NULL,
    spot_interruptions_per_h REAL NOT NULL CHECK (spot_interruptions_per_h >= 0),
    source                  TEXT NOT NULL CHECK (source <> ''),
    source_url              TEXT NOT NULL,
    confidence              TEXT NOT NULL CHECK (confidence <> ''),
    note                    TEXT NOT NULL,
    CHECK ((subject = 'sku') = (sku_id IS NOT NULL)),
    CHECK ((subject = 'sku') = (subject_id = '')),
    -- a price of 0 is either not known (quote_only) or known to be nothing (free_of_charge), and nothing else is 0
    CHECK ((price_micros = 0) = (state = 'quote_only' OR free_of_charge = 1)),
    CHECK (state <> 'quote_only' OR (free_of_charge = 0 AND high_micros = 0)),
    CHECK ((state = 'derived') = (rule <> ''))
) STRICT;
CREATE INDEX prices_sku ON prices (sku_id);
CREATE INDEX prices_provider ON prices (provider_id);
-- what the open interval of a price is looked up by, and what keeps two prices from starting on one day
CREATE UNIQUE INDEX prices_key ON prices (subject, ifnull(sku_id, ''), subject_id, ifnull(provider_id, ''), mode, unit,
                                          term_months, user_class, effective_from);

CREATE TABLE fx_rates (
    base        TEXT NOT NULL CHECK (length(base) = 3),
    quote       TEXT NOT NULL CHECK (length(quote) = 3 AND quote <> base),
    on_date     TEXT NOT NULL,
    rate_micros INTEGER NOT NULL CHECK (rate_micros > 0),
    source      TEXT NOT NULL CHECK (source <> ''),
    PRIMARY KEY (base, quote, on_date)
) STRICT;

CREATE TABLE dedicated_lines (
    id            TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    a_provider_id TEXT NOT NULL REFERENCES providers (id),
    b_provider_id TEXT NOT NULL REFERENCES providers (id) CHECK (b_provider_id <> a_provider_id),
    network_id    TEXT NOT NULL REFERENCES networks (id),
    gbps          REAL NOT NULL CHECK (gbps > 0),
    source        TEXT NOT NULL CHECK (source <> ''),
    source_date   TEXT NOT NULL,
    note          TEXT NOT NULL
) STRICT;

CREATE TABLE purchase_prices (
    gpu_id          TEXT NOT NULL REFERENCES gpus (id),
    gpus_per_server INTEGER NOT NULL CHECK (gpus_per_server >= 1),
    low_micros      INTEGER NOT NULL CHECK (low_micros > 0),
    price_micros    INTEGER NOT NULL CHECK (price_micros >= low_micros),
    high_micros     INTEGER NOT NULL CHECK (high_micros >= price_micros),
    currency        TEXT NOT NULL CHECK (length(currency) = 3),
    observed_on     TEXT NOT NULL,
    source          TEXT NOT NULL CHECK (source <> ''),
    confidence      TEXT NOT NULL,
    note            TEXT NOT NULL,
    PRIMARY KEY (gpu_id, gpus_per_server, observed_on)
) STRICT;

-- Every default of a calculation ...
CREATE TABLE assumptions (
    name        TEXT NOT NULL CHECK (name <> ''),
    gpu_class   TEXT NOT NULL,
    precision   TEXT NOT NULL,
    class       TEXT NOT NULL,
    value       REAL NOT NULL,
    min         REAL,
    max         REAL,
    unit        TEXT NOT NULL,
    overridable INTEGER NOT NULL CHECK (overridable IN (0, 1)),
    evidence    TEXT NOT NULL,
    source      TEXT NOT NULL CHECK (source <> ''),
    source_date TEXT NOT NULL,
    PRIMARY KEY (name, gpu_class, precision, class),
    CHECK (min IS NULL OR min <= value),
    CHECK (max IS NULL OR max >= value),
    CHECK (overridable = 0 OR (min IS NOT NULL AND max IS NOT NULL))
) STRICT;

-- ... and every constant fitted to measurements, apart from them because they are replaced as a set.
CREATE TABLE calibration (
    name        TEXT NOT NULL CHECK (name <> ''),
    gpu_class   TEXT NOT NULL,
    precision   TEXT NOT NULL,
    class       TEXT NOT NULL,
    value       REAL NOT NULL,
    min         REAL,
    max         REAL,
    unit        TEXT NOT NULL,
    overridable INTEGER NOT NULL CHECK (overridable IN (0, 1)),
    evidence    TEXT NOT NULL,
    source      TEXT NOT NULL CHECK (source <> ''),
    source_date TEXT NOT NULL,
    PRIMARY KEY (name, gpu_class, precision, class),
    CHECK (min IS NULL OR min <= value),
    CHECK (max IS NULL OR max >= value),
    CHECK (overridable = 0 OR (min IS NOT NULL AND max IS NOT NULL))
) STRICT;
