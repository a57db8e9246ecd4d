{{- define "ashlar.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "ashlar.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "ashlar.name" .) .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "ashlar.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "ashlar.cluster" -}}
{{- default (printf "%s-%s" .Release.Namespace (include "ashlar.fullname" .)) .Values.clusterName }}
{{- end }}

{{- define "ashlar.selector" -}}
app.kubernetes.io/name: {{ include "ashlar.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ashlar.labels" -}}
{{ include "ashlar.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "ashlar.credentialsSecret" -}}
{{- default (printf "%s-credentials" (include "ashlar.fullname" .)) .Values.credentials.existingSecret }}
{{- end }}

{{- define "ashlar.clusterSecret" -}}
{{- default (printf "%s-cluster" (include "ashlar.fullname" .)) .Values.clusterSecret.existingSecret }}
{{- end }}

{{- define "ashlar.clusterTlsSecret" -}}
{{- default (printf "%s-cluster-tls" (include "ashlar.fullname" .)) .Values.tls.cluster.existingSecret }}
{{- end }}

{{- define "ashlar.s3TlsSecret" -}}
{{- default (printf "%s-s3-tls" (include "ashlar.fullname" .)) .Values.tls.s3.existingSecret }}
{{- end }}

{{- define "ashlar.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "ashlar.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* The role that serves S3. */ -}}
{{- define "ashlar.servingRole" -}}
{{- if eq .Values.mode "single" }}single{{ else }}gateway{{ end }}
{{- end }}

{{- /* A quantity of memory in MiB. */ -}}
{{- define "ashlar.mebibytes" -}}
{{- $number := regexFind "^[0-9.]+" (toString .) | float64 }}
{{- $unit := regexFind "[A-Za-z]*$" (toString .) }}
{{- $bytes := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 }}
{{- if not (hasKey $bytes $unit) }}{{ fail (printf "%v is no quantity of memory" .) }}{{ end }}
{{- divf (mulf $number (get $bytes $unit)) 1048576 | floor | int64 }}
{{- end }}

{{- /*
Heap and direct memory in MiB that fit into the limit, with what is neither: code, classes, stacks, buffers of drives and
the block cache, which is 1/64 of the limit, 64 MiB to 4 GiB. Arguments: role, of (its values), drives, heapShare (percent of what is left).
*/ -}}
{{- define "ashlar.memory" -}}
{{- $limit := include "ashlar.mebibytes" (required (printf "%s.resources.limits.memory is needed" .role) (dig "limits" "memory" "" .of.resources)) | int64 }}
{{- $cache := min 4096 (max 64 (div $limit 64)) }}
{{- $rest := add 288 $cache (mul 16 .drives) | int64 }}
{{- $heap := 0 }}
{{- $direct := 0 }}
{{- if .of.memory.heap }}{{ $heap = include "ashlar.mebibytes" .of.memory.heap | int64 }}{{ end }}
{{- if .of.memory.direct }}{{ $direct = include "ashlar.mebibytes" .of.memory.direct | int64 }}{{ end }}
{{- $left := sub $limit $rest | int64 }}
{{- if and $heap (not $direct) }}{{ $direct = sub $left $heap | int64 }}
{{- else if and $direct (not $heap) }}{{ $heap = sub $left $direct | int64 }}
{{- else if not $heap }}
{{- $heap = div (mul $left .heapShare) 100 | int64 }}
{{- $direct = sub $left $heap | int64 }}
{{- end }}
{{- if gt (add $heap $direct $rest | int64) $limit }}
{{- fail (printf "%s.memory: heap %d Mi, direct memory %d Mi and %d Mi for the rest are more than resources.limits.memory, %d Mi" .role $heap $direct $rest $limit) }}
{{- end }}
{{- if or (lt $heap 128) (lt $direct 160) }}
{{- fail (printf "%s.resources.limits.memory of %d Mi leaves %d Mi of heap and %d Mi of direct memory: at least 128 Mi and 160 Mi are needed, and %d Mi for the rest" .role $limit $heap $direct $rest) }}
{{- end }}
{{- printf "%d %d" $heap $direct }}
{{- end }}

{{- /* Address under which the pods of a headless service are reached. */ -}}
{{- define "ashlar.peers" -}}
{{- printf "%s-%s.%s.svc" (include "ashlar.fullname" .root) .role .root.Release.Namespace }}
{{- end }}

{{- define "ashlar.metadataNodes" -}}
{{- $nodes := list }}
{{- range $i := until (int .Values.metadata.replicas) }}
{{- $nodes = append $nodes (printf "%s-metadata-%d.%s:9002" (include "ashlar.fullname" $) $i (include "ashlar.peers" (dict "root" $ "role" "metadata"))) }}
{{- end }}
{{- join "," $nodes }}
{{- end }}

{{- /* The storage pods: a list of {suffix, replicas, selector, domain} as JSON. */ -}}
{{- define "ashlar.storageSets" -}}
{{- $sets := list }}
{{- $of := .Values.storage }}
{{- range $of.failureDomains.domains }}
{{- $selector := default (dict $of.failureDomains.label .name) .nodeSelector }}
{{- $sets = append $sets (dict "suffix" (printf "-%s" (lower .name | replace "_" "-" | replace "." "-")) "replicas" (default $of.replicas .replicas) "selector" $selector "domain" .name) }}
{{- else }}
{{- $sets = append $sets (dict "suffix" "" "replicas" $of.replicas "selector" dict "domain" "") }}
{{- end }}
{{- toJson $sets }}
{{- end }}

{{- define "ashlar.storageDrives" -}}
{{- $pods := 0 }}
{{- range include "ashlar.storageSets" . | fromJsonArray }}{{ $pods = add $pods (int .replicas) }}{{ end }}
{{- mul $pods (int .Values.storage.drives) }}
{{- end }}

{{- define "ashlar.shards" -}}
{{- $parts := splitList "+" (splitList "," .Values.profile | first) }}
{{- add (index $parts 0 | int) (index $parts 1 | int) }}
{{- end }}

{{- /* What is common to all pods. Arguments: root, role, of (its values), selector (further labels of nodes), grace. */ -}}
{{- define "ashlar.pod" -}}
{{- $root := .root }}
serviceAccountName: {{ include "ashlar.serviceAccount" $root }}
automountServiceAccountToken: false
# Variables that Kubernetes makes of services could be taken for options of the server.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .grace }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ int64 $root.Values.securityContext.runAsUser }}
  runAsGroup: {{ int64 $root.Values.securityContext.runAsGroup }}
  fsGroup: {{ int64 $root.Values.securityContext.fsGroup }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .of.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with merge (dict) (default dict .selector) .of.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .of.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .of.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .of.spread }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: {{ . }}
    labelSelector:
      matchLabels: {{- include "ashlar.selector" $root | nindent 8 }}
        app.kubernetes.io/component: {{ $.role }}
{{- end }}
{{- end }}

{{- /*
The container of the server. Arguments: root, role, of (its values), drives, heapShare, and the YAML of: env, mounts,
preStop.
*/ -}}
{{- define "ashlar.container" -}}
{{- $root := .root }}
{{- $values := $root.Values }}
{{- $memory := splitList " " (include "ashlar.memory" .) }}
- name: ashlar
  image: {{ printf "%s:%s" $values.image.repository (.of.imageTag | default $values.image.tag | default $root.Chart.AppVersion) | quote }}
  imagePullPolicy: {{ $values.image.pullPolicy }}
  args: [server]
  env:
    - {name: ASHLAR_HEAP, value: "{{ first $memory }}m"}
    - {name: ASHLAR_DIRECT_MEMORY, value: "{{ last $memory }}m"}
    - {name: ASHLAR_LOG_LEVEL, value: {{ $values.logLevel }}}
    {{- /* With a certificate, an address without a scheme would be one of HTTPS. */}}
    - {name: ASHLAR_MANAGEMENT_LISTEN, value: "{{ if $values.tls.s3.enabled }}http://{{ end }}0.0.0.0:9001"}
    - {name: ASHLAR_PROFILE, value: {{ $values.profile | quote }}}
    # Also storage and metadata pods check with them who may start a scrub.
    - name: ASHLAR_ACCESS_KEY
      valueFrom: {secretKeyRef: {name: {{ include "ashlar.credentialsSecret" $root }}, key: ASHLAR_ACCESS_KEY}}
    - name: ASHLAR_SECRET_KEY
      valueFrom: {secretKeyRef: {name: {{ include "ashlar.credentialsSecret" $root }}, key: ASHLAR_SECRET_KEY}}
    {{- if has .role (list "gateway" "single") }}
    - {name: ASHLAR_LISTEN, value: "{{ if $values.tls.s3.enabled }}https://{{ end }}0.0.0.0:9000"}
    {{- if $values.tls.s3.enabled }}
    - {name: ASHLAR_TLS_CERT, value: /etc/ashlar/s3-tls/tls.crt}
    - {name: ASHLAR_TLS_KEY, value: /etc/ashlar/s3-tls/tls.key}
    {{- end }}
    - {name: ASHLAR_REGION, value: {{ $values.s3.region | quote }}}
    {{- with $values.s3.domain }}
    - {name: ASHLAR_DOMAIN, value: {{ . | quote }}}
    {{- end }}
    {{- if $values.masterKey.existingSecret }}
    - {name: ASHLAR_MASTER_KEY_FILE, value: /etc/ashlar/master-key/keys}
    {{- end }}
    {{- if $values.kmsKeys.existingSecret }}
    - {name: ASHLAR_KMS_KEYS, value: /etc/ashlar/kms-keys/keys.json}
    {{- end }}
    {{- if $values.eventTargets.existingSecret }}
    - {name: ASHLAR_EVENT_TARGETS, value: /etc/ashlar/event-targets/targets.json}
    {{- end }}
    {{- end }}
    {{- if ne .role "single" }}
    - name: POD_NAME
      valueFrom: {fieldRef: {fieldPath: metadata.name}}
    - {name: ASHLAR_CLUSTER, value: {{ include "ashlar.cluster" $root | quote }}}
    - {name: ASHLAR_CLUSTER_SECRET_FILE, value: /etc/ashlar/cluster/secret}
    - {name: ASHLAR_METADATA_NODES, value: {{ include "ashlar.metadataNodes" $root | quote }}}
    - {name: ASHLAR_ROLES, value: {{ .role }}}
    - {name: ASHLAR_NODE, value: $(POD_NAME)}
    {{- if ne .role "gateway" }}
    - {name: ASHLAR_HOST, value: $(POD_NAME).{{ include "ashlar.peers" . }}}
    - {name: ASHLAR_CLUSTER_LISTEN, value: "0.0.0.0:9002"}
    {{- end }}
    {{- if $values.tls.cluster.enabled }}
    - {name: ASHLAR_CLUSTER_TLS_CERT, value: /etc/ashlar/cluster-tls/tls.crt}
    - {name: ASHLAR_CLUSTER_TLS_KEY, value: /etc/ashlar/cluster-tls/tls.key}
    - {name: ASHLAR_CLUSTER_TLS_CA, value: /etc/ashlar/cluster-tls/ca.crt}
    {{- end }}
    {{- end }}
    {{- .env | nindent 4 }}
    {{- range $name, $value := $values.options }}
    - {name: {{ printf "ASHLAR_%s" (upper $name | replace "-" "_") }}, value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}}
    {{- end }}
    {{- with concat $values.extraEnv .of.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  ports:
    {{- if has .role (list "gateway" "single") }}
    - {name: s3, containerPort: 9000}
    {{- end }}
    - {name: management, containerPort: 9001}
    {{- if has .role (list "storage" "metadata") }}
    - {name: cluster, containerPort: 9002}
    {{- end }}
  # The management port answers once the server has started.
  startupProbe:
    httpGet: {path: /health/liveness, port: management}
    periodSeconds: 3
    timeoutSeconds: 3
    failureThreshold: {{ div (int $values.startupSeconds) 3 }}
  livenessProbe:
    httpGet: {path: /health/liveness, port: management}
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 6
  readinessProbe:
    {{- if eq .role "metadata" }}
    exec: {command: [/opt/ashlar/bin/health, member]}
    {{- else }}
    httpGet: {path: /health/readiness, port: management}
    {{- end }}
    periodSeconds: 5
    timeoutSeconds: 5
    failureThreshold: 2
  {{- with .preStop }}
  lifecycle:
    preStop: {{- . | nindent 6 }}
  {{- end }}
  resources: {{- toYaml .of.resources | nindent 4 }}
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities: {drop: [ALL]}
  volumeMounts:
    - {name: tmp, mountPath: /tmp}
    {{- if ne .role "single" }}
    - {name: cluster-secret, mountPath: /etc/ashlar/cluster, readOnly: true}
    {{- if $values.tls.cluster.enabled }}
    - {name: cluster-tls, mountPath: /etc/ashlar/cluster-tls, readOnly: true}
    {{- end }}
    {{- end }}
    {{- if and $values.tls.s3.enabled (has .role (list "gateway" "single")) }}
    - {name: s3-tls, mountPath: /etc/ashlar/s3-tls, readOnly: true}
    {{- end }}
    {{- if and $values.masterKey.existingSecret (has .role (list "gateway" "single")) }}
    - {name: master-key, mountPath: /etc/ashlar/master-key, readOnly: true}
    {{- end }}
    {{- if and $values.kmsKeys.existingSecret (has .role (list "gateway" "single")) }}
    - {name: kms-keys, mountPath: /etc/ashlar/kms-keys, readOnly: true}
    {{- end }}
    {{- if and $values.eventTargets.existingSecret (has .role (list "gateway" "single")) }}
    - {name: event-targets, mountPath: /etc/ashlar/event-targets, readOnly: true}
    {{- end }}
    {{- with .mounts }}{{ . | nindent 4 }}{{ end }}
{{- end }}

{{- /* Volumes that are no claims. Arguments: root, role. */ -}}
{{- define "ashlar.volumes" -}}
{{- $values := .root.Values -}}
- {name: tmp, emptyDir: {sizeLimit: {{ $values.tmpSize }}}}
{{- if ne .role "single" }}
- {name: cluster-secret, secret: {secretName: {{ include "ashlar.clusterSecret" .root }}}}
{{- if $values.tls.cluster.enabled }}
- {name: cluster-tls, secret: {secretName: {{ include "ashlar.clusterTlsSecret" .root }}}}
{{- end }}
{{- end }}
{{- if and $values.tls.s3.enabled (has .role (list "gateway" "single")) }}
- {name: s3-tls, secret: {secretName: {{ include "ashlar.s3TlsSecret" .root }}}}
{{- end }}
{{- if and $values.masterKey.existingSecret (has .role (list "gateway" "single")) }}
- {name: master-key, secret: {secretName: {{ $values.masterKey.existingSecret }}}}
{{- end }}
{{- if and $values.kmsKeys.existingSecret (has .role (list "gateway" "single")) }}
- {name: kms-keys, secret: {secretName: {{ $values.kmsKeys.existingSecret }}}}
{{- end }}
{{- if and $values.eventTargets.existingSecret (has .role (list "gateway" "single")) }}
- {name: event-targets, secret: {secretName: {{ $values.eventTargets.existingSecret }}}}
{{- end }}
{{- end }}

{{- /* A claim. Arguments: name, of (with size and storageClass), labels. */ -}}
{{- define "ashlar.claim" -}}
- metadata:
    name: {{ .name }}
    labels: {{- .labels | nindent 6 }}
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .of.storageClass }}
    storageClassName: {{ . }}
    {{- end }}
    resources: {requests: {storage: {{ .of.size }}}}
{{- end }}

{{- /* Labels and annotations of a pod. Arguments: root, role, of, set (which of several StatefulSets of a role). */ -}}
{{- define "ashlar.podMetadata" -}}
labels:
  {{- include "ashlar.selector" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .role }}
  {{- with .set }}
  ashlar.dev/set: {{ . }}
  {{- end }}
  {{- with .of.podLabels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with .of.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
