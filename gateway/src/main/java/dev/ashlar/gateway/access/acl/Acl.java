package dev.ashlar.gateway.access.acl;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.AclGrants;
import dev.ashlar.gateway.access.policy.decision.AclPermission;
import dev.ashlar.protocol.message.AclDocument;
import dev.ashlar.protocol.message.AclGrant;
import dev.ashlar.protocol.message.AclGroup;
import dev.ashlar.protocol.message.AclRight;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** An access control list: what is granted to whom, in the order in which it was given. */
public record Acl(List<Grant> grants) {
  public static final int GRANTS_MAX = 100;

  /** Grants nothing. */
  public static final Acl EMPTY = new Acl(List.of());

  private static final int FORMAT = 1;

  /** One permission for one grantee. */
  public record Grant(Grantee grantee, AclPermission permission) {}

  public Acl {
    grants = List.copyOf(grants);
  }

  /** The ACL where none was ever put. */
  public static Acl privateOf(String owner) {
    return new Acl(List.of(new Grant(new Grantee.Account(owner), AclPermission.FULL_CONTROL)));
  }

  /** Whether it grants something to everybody, in the sense of S3's block of public access. */
  public boolean isPublic() {
    return grants.stream()
        .anyMatch(grant -> grant.grantee() instanceof Grantee.Group group && group.isPublic());
  }

  /** Whether it grants something to others than this account. */
  public boolean grantsToOthers(String owner) {
    return grants.stream().anyMatch(grant -> !grant.grantee().equals(new Grantee.Account(owner)));
  }

  /** Whether the account has this permission by name. */
  public boolean grants(String canonicalId, AclPermission permission) {
    return grants.contains(new Grant(new Grantee.Account(canonicalId), permission));
  }

  /** What it grants to one caller. */
  public AclGrants of(Requester requester) {
    Set<AclPermission> toAccount = EnumSet.noneOf(AclPermission.class);
    Set<AclPermission> toGroups = EnumSet.noneOf(AclPermission.class);
    for (Grant grant : grants) {
      switch (grant.grantee()) {
        case Grantee.Account account -> {
          if (requester instanceof Requester.Identity identity
              && identity.canonicalId().equals(account.canonicalId())) {
            toAccount.add(grant.permission());
          }
        }
        case Grantee.Group group -> {
          if (isMember(requester, group)) {
            (group.isPublic() ? toGroups : toAccount).add(grant.permission());
          }
        }
      }
    }
    return new AclGrants(toAccount, toGroups);
  }

  private static boolean isMember(Requester requester, Grantee.Group group) {
    return switch (group) {
      case ALL_USERS ->
          requester instanceof Requester.Anonymous || requester instanceof Requester.Identity;
      case AUTHENTICATED_USERS -> requester instanceof Requester.Identity;
      case LOG_DELIVERY -> requester.equals(Requester.Service.LOG_DELIVERY);
    };
  }

  /** As it is stored. */
  public ByteString toDocument() {
    AclDocument.Builder document = AclDocument.newBuilder().setFormat(FORMAT);
    for (Grant grant : grants) {
      AclGrant.Builder row = AclGrant.newBuilder().setRight(right(grant.permission()));
      switch (grant.grantee()) {
        case Grantee.Account account -> row.setCanonicalId(account.canonicalId());
        case Grantee.Group group -> row.setGroup(group(group));
      }
      document.addGrants(row);
    }
    return document.build().toByteString();
  }

  /**
   * Reads a stored ACL. What this build does not know in it grants nothing.
   *
   * @param owner of the bucket or object, who has full control if the document is empty
   */
  public static Acl ofDocument(ByteString stored, String owner) {
    if (stored.isEmpty()) {
      return privateOf(owner);
    }
    AclDocument document;
    try {
      document = AclDocument.parseFrom(stored);
    } catch (InvalidProtocolBufferException e) {
      return EMPTY;
    }
    if (document.getFormat() != FORMAT) {
      return EMPTY;
    }
    List<Grant> grants = new ArrayList<>(document.getGrantsCount());
    for (AclGrant row : document.getGrantsList()) {
      boolean isKnown =
          row.getRight() != AclRight.RIGHT_NONE
              && row.getRight() != AclRight.UNRECOGNIZED
              && (!row.getCanonicalId().isEmpty()
                  || (row.getGroup() != AclGroup.GROUP_NONE
                      && row.getGroup() != AclGroup.UNRECOGNIZED));
      if (isKnown) {
        grants.add(new Grant(grantee(row), permission(row.getRight())));
      }
    }
    return new Acl(grants);
  }

  private static Grantee grantee(AclGrant row) {
    if (!row.getCanonicalId().isEmpty()) {
      return new Grantee.Account(row.getCanonicalId());
    }
    return switch (row.getGroup()) {
      case GROUP_ALL_USERS -> Grantee.Group.ALL_USERS;
      case GROUP_AUTHENTICATED_USERS -> Grantee.Group.AUTHENTICATED_USERS;
      case GROUP_LOG_DELIVERY -> Grantee.Group.LOG_DELIVERY;
      case GROUP_NONE, UNRECOGNIZED -> throw new IllegalArgumentException("no grantee");
    };
  }

  private static AclGroup group(Grantee.Group group) {
    return switch (group) {
      case ALL_USERS -> AclGroup.GROUP_ALL_USERS;
      case AUTHENTICATED_USERS -> AclGroup.GROUP_AUTHENTICATED_USERS;
      case LOG_DELIVERY -> AclGroup.GROUP_LOG_DELIVERY;
    };
  }

  private static AclPermission permission(AclRight right) {
    return switch (right) {
      case RIGHT_READ -> AclPermission.READ;
      case RIGHT_WRITE -> AclPermission.WRITE;
      case RIGHT_READ_ACP -> AclPermission.READ_ACP;
      case RIGHT_WRITE_ACP -> AclPermission.WRITE_ACP;
      case RIGHT_FULL_CONTROL -> AclPermission.FULL_CONTROL;
      case RIGHT_NONE, UNRECOGNIZED -> throw new IllegalArgumentException("no permission");
    };
  }

  private static AclRight right(AclPermission permission) {
    return switch (permission) {
      case READ -> AclRight.RIGHT_READ;
      case WRITE -> AclRight.RIGHT_WRITE;
      case READ_ACP -> AclRight.RIGHT_READ_ACP;
      case WRITE_ACP -> AclRight.RIGHT_WRITE_ACP;
      case FULL_CONTROL -> AclRight.RIGHT_FULL_CONTROL;
    };
  }
}
