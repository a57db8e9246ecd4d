package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.BucketConfig;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.gateway.access.acl.Acl.Grant;
import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.access.acl.AclRequest.Written;
import dev.ashlar.gateway.access.acl.Grantee;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes ACLs of what requests ask for: looks grantees up, and heeds the block of public ACLs. */
public record Acls(Backend backend, Caller caller, @Nullable BucketConfig bucket) {
  /** Of a bucket that exists, or of an object in it. */
  public static Acls in(Backend backend, Permit permit) {
    return new Acls(backend, permit.caller(), permit.config());
  }

  /** Of a bucket that does not exist yet, so that nothing blocks it. */
  public static Acls ofNew(Backend backend, Permit permit) {
    return new Acls(backend, permit.caller(), null);
  }

  /**
   * @param owner who will have full control of a canned ACL
   * @throws S3Exception InvalidArgument, UnresolvableGrantByEmailAddress, or AccessDenied by the
   *     block of public access
   */
  public Acl ofObject(AclRequest request, String owner)
      throws S3Exception, MetadataUnavailableException {
    String bucketOwner = bucket == null ? owner : bucket.row().getOwner();
    return unblocked(
        switch (request) {
          case AclRequest.None none -> Acl.privateOf(owner);
          case AclRequest.Canned canned -> canned.acl().ofObject(owner, bucketOwner);
          case AclRequest.Grants grants -> resolve(grants);
        });
  }

  /** Likewise of the bucket. */
  public Acl ofBucket(AclRequest request, String owner)
      throws S3Exception, MetadataUnavailableException {
    return unblocked(
        switch (request) {
          case AclRequest.None none -> Acl.privateOf(owner);
          case AclRequest.Canned canned -> canned.acl().ofBucket(owner);
          case AclRequest.Grants grants -> resolve(grants);
        });
  }

  private Acl unblocked(Acl acl) throws S3Exception {
    if (acl.isPublic() && bucket != null && bucket.blockInForce().blockPublicAcls()) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
    return acl;
  }

  private Acl resolve(AclRequest.Grants request) throws S3Exception, MetadataUnavailableException {
    if (request.grants().size() > Acl.GRANTS_MAX) {
      throw S3Exception.invalidRequest("An ACL has at most " + Acl.GRANTS_MAX + " grants.");
    }
    List<Grant> grants = new ArrayList<>();
    for (Written written : request.grants()) {
      Grant grant = new Grant(grantee(written), written.permission());
      if (!grants.contains(grant)) {
        grants.add(grant);
      }
    }
    return new Acl(grants);
  }

  private Grantee grantee(Written written) throws S3Exception, MetadataUnavailableException {
    return switch (written.form()) {
      case CANONICAL_ID -> account(written.grantee());
      case EMAIL -> withEmail(written.grantee());
      case GROUP_URI -> group(written.grantee());
    };
  }

  private Grantee account(String canonicalId) throws S3Exception, MetadataUnavailableException {
    // The first owner of a store need not have an account.
    boolean isParty =
        canonicalId.equals(caller.canonicalId())
            || (bucket != null && canonicalId.equals(bucket.row().getOwner()));
    if (isParty || find(AccountQuery.newBuilder().setCanonicalId(canonicalId)).isPresent()) {
      return new Grantee.Account(canonicalId);
    }
    throw S3Exception.invalidArgument("Invalid id", "CanonicalUser/ID", canonicalId);
  }

  private Grantee withEmail(String email) throws S3Exception, MetadataUnavailableException {
    return find(AccountQuery.newBuilder().setEmail(email))
        .map(account -> new Grantee.Account(account.getAccount().getCanonicalId()))
        .orElseThrow(() -> new S3Exception(S3Error.UNRESOLVABLE_GRANT_BY_EMAIL_ADDRESS));
  }

  private static Grantee group(String uri) throws S3Exception {
    for (Grantee.Group group : Grantee.Group.values()) {
      if (group.uri().equals(uri)) {
        return group;
      }
    }
    throw S3Exception.invalidArgument("Invalid group uri", "Group/URI", uri);
  }

  private Optional<AccountValue> find(AccountQuery.Builder query)
      throws MetadataUnavailableException {
    return backend.metadata().account(query.build());
  }
}
