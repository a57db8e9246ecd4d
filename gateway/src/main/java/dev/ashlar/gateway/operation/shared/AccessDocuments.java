package dev.ashlar.gateway.operation.shared;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.access.policy.decision.PublicAccessBlock;
import dev.ashlar.protocol.message.OwnershipDocument;
import dev.ashlar.protocol.message.OwnershipRule;
import dev.ashlar.protocol.message.PublicAccessBlockDocument;

/** Writes the documents about access as metadata stores them. */
public final class AccessDocuments {
  private static final int FORMAT = 1;

  private AccessDocuments() {}

  public static ByteString of(PublicAccessBlock block) {
    return PublicAccessBlockDocument.newBuilder()
        .setFormat(FORMAT)
        .setBlockPublicAcls(block.blockPublicAcls())
        .setIgnorePublicAcls(block.ignorePublicAcls())
        .setBlockPublicPolicy(block.blockPublicPolicy())
        .setRestrictPublicBuckets(block.restrictPublicBuckets())
        .build()
        .toByteString();
  }

  public static ByteString of(ObjectOwnership ownership) {
    OwnershipRule rule =
        switch (ownership) {
          case BUCKET_OWNER_ENFORCED -> OwnershipRule.OWNERSHIP_ENFORCED;
          case BUCKET_OWNER_PREFERRED -> OwnershipRule.OWNERSHIP_PREFERRED;
          case OBJECT_WRITER -> OwnershipRule.OWNERSHIP_WRITER;
        };
    return OwnershipDocument.newBuilder().setRule(rule).build().toByteString();
  }
}
