package dev.ashlar.gateway.access.acl;

import dev.ashlar.gateway.access.acl.Acl.Grant;
import dev.ashlar.gateway.access.policy.decision.AclPermission;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** ACLs that have a name ("Canned ACL", Amazon S3 User Guide). */
public enum CannedAcl {
  PRIVATE,
  PUBLIC_READ,
  PUBLIC_READ_WRITE,
  AUTHENTICATED_READ,

  /** Grants to Amazon EC2, which is not here: as private. */
  AWS_EXEC_READ,
  BUCKET_OWNER_READ,
  BUCKET_OWNER_FULL_CONTROL,
  LOG_DELIVERY_WRITE;

  public static Optional<CannedAcl> named(String name) {
    return Arrays.stream(values()).filter(acl -> acl.text().equals(name)).findFirst();
  }

  /** As S3 spells it, such as public-read. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The ACL of a bucket. What is about the owner of the bucket means nothing there. */
  public Acl ofBucket(String owner) {
    List<Grant> grants = ofOwner(owner);
    if (this == LOG_DELIVERY_WRITE) {
      grants.add(new Grant(Grantee.Group.LOG_DELIVERY, AclPermission.WRITE));
      grants.add(new Grant(Grantee.Group.LOG_DELIVERY, AclPermission.READ_ACP));
    }
    return new Acl(grants);
  }

  /** The ACL of an object. */
  public Acl ofObject(String owner, String bucketOwner) {
    List<Grant> grants = ofOwner(owner);
    AclPermission forBucket =
        this == BUCKET_OWNER_READ ? AclPermission.READ : AclPermission.FULL_CONTROL;
    boolean isForBucket = this == BUCKET_OWNER_READ || this == BUCKET_OWNER_FULL_CONTROL;
    if (isForBucket && !bucketOwner.equals(owner)) {
      grants.add(new Grant(new Grantee.Account(bucketOwner), forBucket));
    }
    return new Acl(grants);
  }

  private List<Grant> ofOwner(String owner) {
    List<Grant> grants = new ArrayList<>();
    grants.add(new Grant(new Grantee.Account(owner), AclPermission.FULL_CONTROL));
    switch (this) {
      case PUBLIC_READ -> grants.add(new Grant(Grantee.Group.ALL_USERS, AclPermission.READ));
      case PUBLIC_READ_WRITE -> {
        grants.add(new Grant(Grantee.Group.ALL_USERS, AclPermission.READ));
        grants.add(new Grant(Grantee.Group.ALL_USERS, AclPermission.WRITE));
      }
      case AUTHENTICATED_READ ->
          grants.add(new Grant(Grantee.Group.AUTHENTICATED_USERS, AclPermission.READ));
      case PRIVATE,
          AWS_EXEC_READ,
          BUCKET_OWNER_READ,
          BUCKET_OWNER_FULL_CONTROL,
          LOG_DELIVERY_WRITE -> {
        // Nothing for everybody.
      }
    }
    return grants;
  }
}
