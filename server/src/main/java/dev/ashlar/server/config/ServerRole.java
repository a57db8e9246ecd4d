package dev.ashlar.server.config;

/** What a process of a cluster does; one may do several. */
public enum ServerRole {
  /** Serves S3 from the drives of all storage nodes. */
  GATEWAY,
  /** Serves its drives to the gateways. */
  STORAGE,
  /** Is one peer of the metadata group. */
  METADATA
}
