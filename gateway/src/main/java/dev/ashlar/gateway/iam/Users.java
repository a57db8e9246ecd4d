package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.protocol.client.IdentityPage;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityRow;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;

/** Users, and what users, groups and roles have in common. */
final class Users {
  static final SecureRandom RANDOM = new SecureRandom();

  private Users() {}

  static Map<String, Action> actions() {
    return Map.of(
        "CreateUser", new Action(Action.ofNew(Entity.USER), Users::create),
        "GetUser", new Action(Action.ofUserOrCaller(), Users::get),
        "ListUsers", new Action(Action.ofAll(Entity.USER), (c, s) -> list(c, Entity.USER)),
        "UpdateUser", new Action(Action.ofRenamed(Entity.USER), Users::rename),
        "DeleteUser", new Action(Action.of(Entity.USER), Users::delete));
  }

  private static void create(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    IdentityRow row = call.directory().create(newRow(call, Entity.USER));
    Rows.write(call.out(), "User", row);
  }

  /** A new identity with the name, path and tags of the request. */
  static IdentityRow.Builder newRow(IamCall call, Entity entity) throws QueryException {
    if (call.parameters().optional("PermissionsBoundary").isPresent()) {
      throw new QueryException(
          QueryError.NOT_IMPLEMENTED, "Permissions boundaries are not supported.");
    }
    return IdentityRow.newBuilder()
        .setKind(entity.kind())
        .setId(Names.newId(entity, RANDOM))
        .setName(Names.name(call.parameters(), entity))
        .setPath(Names.path(call.parameters()))
        .addAllTags(Tags.of(call.parameters()));
  }

  private static void get(IamCall call, Subject subject) throws QueryException {
    if (subject instanceof Subject.Root) {
      call.out()
          .open("User")
          .element("UserId", call.account())
          .element("Arn", Arns.ofRoot(call.account()))
          .element("CreateDate", Rows.time(call.caller().account().getCreatedAtMs()))
          .close();
    } else {
      Rows.write(call.out(), "User", subject.row());
    }
  }

  /** Lists users, groups or roles below a path. */
  static void list(IamCall call, Entity entity)
      throws QueryException, MetadataUnavailableException {
    Paging paging = Paging.of(call.parameters());
    IdentityListQuery.Builder query =
        IdentityListQuery.newBuilder()
            .setKind(entity.kind())
            .setPathPrefix(Names.pathPrefix(call.parameters()))
            .setMax(paging.max());
    paging.after().ifPresent(query::setAfter);
    IdentityPage page = call.directory().list(query);
    call.out().open(entity.title() + "s");
    // As in AWS, a list does not show tags.
    page.identities()
        .forEach(row -> Rows.write(call.out(), "member", row.toBuilder().clearTags().build()));
    call.out().close();
    Paging.end(call.out(), last(page), page.truncated());
  }

  static Optional<IdentityRow> last(IdentityPage page) {
    return page.identities().isEmpty()
        ? Optional.empty()
        : Optional.of(page.identities().getLast());
  }

  /** Gives a user or group another name, another path or both. */
  static void rename(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    IdentityRow row = subject.row();
    Entity entity = Entity.of(row.getKind());
    Optional<String> path = Names.optionalPath(call.parameters(), "NewPath");
    Optional<String> name =
        Names.optionalName(call.parameters(), entity, "New" + entity.nameParameter());
    call.directory()
        .change(
            row,
            changed -> {
              path.ifPresent(changed::setPath);
              name.ifPresent(changed::setName);
            });
  }

  static void delete(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    call.directory().delete(subject.row());
  }
}
