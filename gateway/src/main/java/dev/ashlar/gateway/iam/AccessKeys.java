package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PutAccessKey;
import java.util.Base64;
import java.util.Map;
import java.util.regex.Pattern;

/** Access keys of users and of the root user, at most two each. */
final class AccessKeys {
  private static final int KEY_RANDOM_CHARS = 16;

  /** Forty characters of Base64, as AWS makes them. */
  private static final int SECRET_RANDOM_BYTES = 30;

  private static final Pattern KEY = Pattern.compile("[\\w]+");
  private static final Pattern STATUS = Pattern.compile("Active|Inactive");

  private AccessKeys() {}

  static Map<String, Action> actions() {
    return Map.of(
        "CreateAccessKey", new Action(Action.ofUserOrCaller(), AccessKeys::create),
        "ListAccessKeys", new Action(Action.ofUserOrCaller(), AccessKeys::list),
        "UpdateAccessKey", new Action(Action.ofUserOrCaller(), AccessKeys::update),
        "DeleteAccessKey", new Action(Action.ofUserOrCaller(), AccessKeys::delete));
  }

  /**
   * Whose keys an action is about.
   *
   * @param id empty: of the root user
   */
  private record Owner(String id, String name) {
    static Owner of(Subject subject) throws QueryException {
      if (subject instanceof Subject.Root) {
        return new Owner("", "");
      }
      IdentityRow user = subject.row();
      return new Owner(user.getId(), user.getName());
    }
  }

  static String newSecret() {
    byte[] bytes = new byte[SECRET_RANDOM_BYTES];
    Users.RANDOM.nextBytes(bytes);
    return Base64.getEncoder().encodeToString(bytes);
  }

  private static void create(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    Owner owner = Owner.of(subject);
    String id = Names.newId("AKIA", KEY_RANDOM_CHARS, Users.RANDOM);
    String secret = newSecret();
    call.directory()
        .putNewAccessKey(PutAccessKey.newBuilder().setAccessKey(id).setUserId(owner.id()), secret);
    call.out().open("AccessKey");
    writeName(call, owner);
    call.out()
        .element("AccessKeyId", id)
        .element("Status", "Active")
        .element("SecretAccessKey", secret)
        .element("CreateDate", Rows.time(call.query().now().toEpochMilli()))
        .close();
  }

  private static void writeName(IamCall call, Owner owner) {
    if (!owner.name().isEmpty()) {
      call.out().element("UserName", owner.name());
    }
  }

  private static void list(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    Owner owner = Owner.of(subject);
    Paging paging = Paging.of(call.parameters());
    writeName(call, owner);
    paging.write(
        call.out(),
        "AccessKeyMetadata",
        call.directory().accessKeys(owner.id()),
        CredentialRow::getAccessKey,
        (out, key) -> {
          out.open("member");
          writeName(call, owner);
          out.element("AccessKeyId", key.getAccessKey())
              .element("Status", key.getInactive() ? "Inactive" : "Active")
              .element("CreateDate", Rows.time(key.getCreatedAtMs()))
              .close();
        });
  }

  private static void update(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String status = call.parameters().text("Status", 1, 16, STATUS);
    CredentialRow key = find(call, Owner.of(subject));
    call.directory()
        .putAccessKey(
            PutAccessKey.newBuilder()
                .setAccessKey(key.getAccessKey())
                .setUserId(key.getUserId())
                .setInactive(status.equals("Inactive"))
                .setSecret(key.getSecret())
                .setSealedBy(key.getSealedBy())
                .setExpectedRevision(key.getRevision()));
  }

  private static void delete(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    call.directory().deleteAccessKey(find(call, Owner.of(subject)));
  }

  /** A key of this owner: keys of others are not found. */
  private static CredentialRow find(IamCall call, Owner owner)
      throws QueryException, MetadataUnavailableException {
    String id = call.parameters().text("AccessKeyId", 3, 128, KEY);
    return call.directory().accessKeys(owner.id()).stream()
        .filter(key -> key.getAccessKey().equals(id))
        .findFirst()
        .orElseThrow(
            () ->
                new QueryException(
                    QueryError.NO_SUCH_ENTITY,
                    "The Access Key with id " + id + " cannot be found."));
  }
}
