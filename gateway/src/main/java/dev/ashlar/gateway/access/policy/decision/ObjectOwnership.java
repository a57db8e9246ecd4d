package dev.ashlar.gateway.access.policy.decision;

import java.util.Arrays;
import java.util.Optional;

/** To whom new objects of a bucket belong, and whether ACLs count. */
public enum ObjectOwnership {
  /** All objects belong to the owner of the bucket; ACLs do not count. */
  BUCKET_OWNER_ENFORCED,

  /**
   * Objects belong to the owner of the bucket if they are written with bucket-owner-full-control.
   */
  BUCKET_OWNER_PREFERRED,

  /** Objects belong to the account that wrote them. */
  OBJECT_WRITER;

  /** By S3's name. */
  public static Optional<ObjectOwnership> named(String name) {
    return Arrays.stream(values()).filter(rule -> rule.text().equals(name)).findFirst();
  }

  /** As S3 spells it, such as ObjectWriter. */
  public String text() {
    return switch (this) {
      case BUCKET_OWNER_ENFORCED -> "BucketOwnerEnforced";
      case BUCKET_OWNER_PREFERRED -> "BucketOwnerPreferred";
      case OBJECT_WRITER -> "ObjectWriter";
    };
  }
}
