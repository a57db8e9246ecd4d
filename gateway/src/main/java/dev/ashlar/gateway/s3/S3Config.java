package dev.ashlar.gateway.s3;

/**
 * Configuration of the S3 service.
 *
 * @param region the only region of this installation
 * @param ownerDisplayName shown as DisplayName of owners
 */
public record S3Config(String region, VirtualHosts virtualHosts, String ownerDisplayName) {
  /** The region whose LocationConstraint S3 leaves empty. */
  public static final String CLASSIC_REGION = "us-east-1";
}
