package dev.ashlar.server;

/** What a process of a cluster does; one may do several. */
enum ServerRole {
  /** Serves S3 from the drives of all storage nodes. */
  GATEWAY,
  /** Serves its drives to the gateways. */
  STORAGE,
  /** Is one peer of the metadata group. */
  METADATA
}
