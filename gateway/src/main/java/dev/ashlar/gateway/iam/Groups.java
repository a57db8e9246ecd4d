package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.protocol.client.IdentityPage;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityRow;
import java.util.List;
import java.util.Map;

/** Groups of users. */
final class Groups {
  private static final int GROUPS_PER_USER_MAX = 10;

  private Groups() {}

  static Map<String, Action> actions() {
    return Map.of(
        "CreateGroup", new Action(Action.ofNew(Entity.GROUP), Groups::create),
        "GetGroup", new Action(Action.of(Entity.GROUP), Groups::get),
        "ListGroups", new Action(Action.ofAll(Entity.GROUP), (c, s) -> Users.list(c, Entity.GROUP)),
        "UpdateGroup", new Action(Action.ofRenamed(Entity.GROUP), Users::rename),
        "DeleteGroup", new Action(Action.of(Entity.GROUP), Users::delete),
        "AddUserToGroup", new Action(Action.of(Entity.GROUP), Groups::add),
        "RemoveUserFromGroup", new Action(Action.of(Entity.GROUP), Groups::remove),
        "ListGroupsForUser", new Action(Action.of(Entity.USER), Groups::ofUser));
  }

  private static void create(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    Rows.write(
        call.out(), "Group", call.directory().create(Users.newRow(call, Entity.GROUP).clearTags()));
  }

  private static void get(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    IdentityRow group = subject.row();
    Paging paging = Paging.of(call.parameters());
    IdentityListQuery.Builder query =
        IdentityListQuery.newBuilder().setMemberOf(group.getId()).setMax(paging.max());
    paging.after().ifPresent(query::setAfter);
    IdentityPage page = call.directory().list(query);
    Rows.write(call.out(), "Group", group);
    call.out().open("Users");
    page.identities()
        .forEach(row -> Rows.write(call.out(), "member", row.toBuilder().clearTags().build()));
    call.out().close();
    Paging.end(call.out(), Users.last(page), page.truncated());
  }

  private static void add(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String group = subject.row().getId();
    call.directory()
        .change(
            user(call),
            changed -> {
              if (!changed.getGroupsList().contains(group)) {
                if (changed.getGroupsCount() >= GROUPS_PER_USER_MAX) {
                  throw new QueryException(
                      QueryError.LIMIT_EXCEEDED,
                      "Cannot exceed quota for GroupsPerUser: " + GROUPS_PER_USER_MAX);
                }
                changed.addGroups(group);
              }
            });
  }

  private static void remove(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String group = subject.row().getId();
    call.directory()
        .change(
            user(call),
            changed -> {
              List<String> left =
                  changed.getGroupsList().stream().filter(id -> !id.equals(group)).toList();
              if (left.size() == changed.getGroupsCount()) {
                throw new QueryException(
                    QueryError.NO_SUCH_ENTITY,
                    "User " + changed.getName() + " not in group " + subject.row().getName());
              }
              changed.clearGroups().addAllGroups(left);
            });
  }

  private static IdentityRow user(IamCall call)
      throws QueryException, MetadataUnavailableException {
    String name = Names.name(call.parameters(), Entity.USER);
    return call.directory()
        .find(Entity.USER, name)
        .orElseThrow(
            () ->
                new QueryException(
                    QueryError.NO_SUCH_ENTITY, "The user with name " + name + " cannot be found."));
  }

  private static void ofUser(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    List<IdentityRow> groups = call.directory().withIds(subject.row().getGroupsList());
    Paging.of(call.parameters())
        .write(
            call.out(),
            "Groups",
            groups,
            IdentityRow::getName,
            (out, group) -> Rows.write(out, "member", group));
  }
}
