# Made from the table of options in crates/config; do not edit it by hand.
_basalt() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  case "$before" in
    --protected-mode) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --console) mapfile -t COMPREPLY < <(compgen -W 'yes read-only no' -- "$word"); return ;;
    --hust-interface) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --hust-versions) mapfile -t COMPREPLY < <(compgen -W 'counter unique' -- "$word"); return ;;
    --enable-debug-command) mapfile -t COMPREPLY < <(compgen -W 'no yes local' -- "$word"); return ;;
    --enable-protected-configs) mapfile -t COMPREPLY < <(compgen -W 'no yes local' -- "$word"); return ;;
    --enable-module-command) mapfile -t COMPREPLY < <(compgen -W 'no yes local' -- "$word"); return ;;
    --acl-pubsub-default) mapfile -t COMPREPLY < <(compgen -W 'allchannels resetchannels' -- "$word"); return ;;
    --maxmemory) mapfile -t COMPREPLY < <(compgen -W 'auto' -- "$word"); return ;;
    --maxmemory-policy) mapfile -t COMPREPLY < <(compgen -W 'volatile-lru volatile-lfu volatile-random volatile-ttl allkeys-lru allkeys-lfu allkeys-random noeviction' -- "$word"); return ;;
    --lazyfree-lazy-eviction) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --lazyfree-lazy-expire) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --lazyfree-lazy-server-del) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --lazyfree-lazy-user-del) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --lazyfree-lazy-user-flush) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --appendonly) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --appendfsync) mapfile -t COMPREPLY < <(compgen -W 'everysec always no' -- "$word"); return ;;
    --accept-data-loss) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --checkpoint-log-size) mapfile -t COMPREPLY < <(compgen -W 'auto' -- "$word"); return ;;
    --cold-tier) mapfile -t COMPREPLY < <(compgen -W 'rocksdb memory' -- "$word"); return ;;
    --cold-cache-size) mapfile -t COMPREPLY < <(compgen -W 'auto' -- "$word"); return ;;
    --cold-direct-reads) mapfile -t COMPREPLY < <(compgen -W 'auto yes no' -- "$word"); return ;;
    --warm-up) mapfile -t COMPREPLY < <(compgen -W 'hot all yes no' -- "$word"); return ;;
    --loglevel) mapfile -t COMPREPLY < <(compgen -W 'debug verbose notice warning' -- "$word"); return ;;
    --log-format) mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$word"); return ;;
    --latency-tracking) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --debug-sleep-stops-all) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --tls-auth-clients) mapfile -t COMPREPLY < <(compgen -W 'no yes optional' -- "$word"); return ;;
    --tls-auth-clients-user) mapfile -t COMPREPLY < <(compgen -W 'off CN' -- "$word"); return ;;
    --tls-prefer-server-ciphers) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
    --tls-session-caching) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
  esac
  case "$word" in
    -*) mapfile -t COMPREPLY < <(compgen -W '--bind --port --unixsocket --unixsocketperm --protected-mode --tcp-backlog --tcp-keepalive --io-threads --batch-commands-max --turn-commands-max --proto-max-bulk-len --proto-max-multibulk-len --proto-inline-max-size --http-port --http-tls-port --http-bind --http-unixsocket --http-allow --http-hosts --http-cors-origins --http-login-time --http-logins-max --http-head-max --http-path-max --http-body-max --http-buffers-max --http-json-max --http-head-timeout --http-body-rate-min --http-wait-max --http-idle-timeout --http-linger-timeout --http-linger-max --http-events-ping --http-socket-ping --http-message-max --http-credit-max --console --hust-interface --hust-databases --hust-mq-port --hust-mq-tls-port --hust-versions --hust-ttl-max --maxclients --timeout --requirepass --client-query-buffer-limit --client-output-buffer-limit --enable-debug-command --enable-protected-configs --enable-module-command --tracking-table-max-keys --acllog-max-len --aclfile --acl-pubsub-default --maxmemory --maxmemory-policy --lazyfree-lazy-eviction --lazyfree-lazy-expire --lazyfree-lazy-server-del --lazyfree-lazy-user-del --lazyfree-lazy-user-flush --active-expire-effort --hz --maxmemory-samples --dir --appendonly --appendfsync --accept-data-loss --checkpoint-log-size --journal-segment-size --cold-tier --cold-cache-size --value-log-min --disk-reserve --collection-row-max --miss-threads --miss-ring-depth --cold-direct-reads --warm-up --databases --loglevel --logfile --log-format --pidfile --slowlog-log-slower-than --metrics-queues-max --slowlog-max-len --latency-monitor-threshold --shutdown-timeout --latency-tracking --latency-tracking-info-percentiles --notify-keyspace-events --busy-reply-threshold --script-time-max --script-memory-max --debug-sleep-stops-all --hash-max-listpack-entries --hash-max-listpack-value --list-max-listpack-size --set-max-intset-entries --set-max-listpack-entries --set-max-listpack-value --zset-max-listpack-entries --zset-max-listpack-value --hll-sparse-max-bytes --stream-node-max-bytes --stream-node-max-entries --tls-port --tls-cert-file --tls-key-file --tls-key-file-pass --tls-ca-cert-file --tls-ca-cert-dir --tls-auth-clients --tls-auth-clients-user --tls-protocols --tls-ciphers --tls-ciphersuites --tls-prefer-server-ciphers --tls-session-caching --tls-session-cache-size --tls-session-cache-timeout --tls-handshake-timeout --help --version' -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -W 'server bench compare' -- "$word") ;;
  esac
}
complete -o filenames -F _basalt basalt
