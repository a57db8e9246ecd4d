package dev.ashlar.gateway.operation.shared;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.BucketConfig;
import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.access.acl.CannedAcl;
import dev.ashlar.gateway.access.policy.decision.AclPermission;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.ObjectFacts;

/**
 * To whom an object will belong, and its ACL.
 *
 * @param owner canonical user id
 * @param acl as it is stored; empty: private
 */
public record NewObjectAccess(String owner, ByteString acl) {
  private static final AclRequest TO_BUCKET_OWNER =
      new AclRequest.Canned(CannedAcl.BUCKET_OWNER_FULL_CONTROL);

  /**
   * @throws S3Exception AccessControlListNotSupported, AccessDenied by the block of public access,
   *     or what is wrong with the ACL
   */
  public static NewObjectAccess of(Backend backend, Permit permit, AclRequest request)
      throws S3Exception, MetadataUnavailableException {
    BucketConfig bucket = permit.config();
    String bucketOwner = bucket.row().getOwner();
    String writer = permit.caller().canonicalId();
    if (bucket.ownershipInForce() == ObjectOwnership.BUCKET_OWNER_ENFORCED) {
      if (request.isGiven() && !request.equals(TO_BUCKET_OWNER)) {
        throw new S3Exception(S3Error.ACCESS_CONTROL_LIST_NOT_SUPPORTED);
      }
      return new NewObjectAccess(bucketOwner, ByteString.EMPTY);
    }
    if (!request.isGiven()) {
      return new NewObjectAccess(writer, ByteString.EMPTY);
    }
    Acl acl = Acls.in(backend, permit).ofObject(request, writer);
    boolean isGivenAway =
        bucket.ownershipInForce() == ObjectOwnership.BUCKET_OWNER_PREFERRED
            && acl.grants(bucketOwner, AclPermission.FULL_CONTROL);
    return isGivenAway
        ? new NewObjectAccess(bucketOwner, stored(bucketOwner, acl))
        : new NewObjectAccess(writer, stored(writer, acl));
  }

  private static ByteString stored(String owner, Acl acl) {
    return acl.equals(Acl.privateOf(owner)) ? ByteString.EMPTY : acl.toDocument();
  }

  /** These facts with the ACL, for the command that makes the object. */
  public ObjectFacts facts(ObjectFacts others) {
    return acl.isEmpty() ? others : others.toBuilder().setAcl(acl).build();
  }
}
