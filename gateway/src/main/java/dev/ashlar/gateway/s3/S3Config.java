package dev.ashlar.gateway.s3;

import java.util.List;

/**
 * Configuration of the S3 service.
 *
 * @param region the only region of this installation
 * @param virtualHostDomains lower-case domains below which a host names a bucket; without them
 *     every request is path-style
 * @param ownerDisplayName shown as DisplayName of owners
 */
public record S3Config(String region, List<String> virtualHostDomains, String ownerDisplayName) {
  /** The region whose LocationConstraint S3 leaves empty. */
  public static final String CLASSIC_REGION = "us-east-1";

  public S3Config {
    virtualHostDomains = List.copyOf(virtualHostDomains);
  }
}
