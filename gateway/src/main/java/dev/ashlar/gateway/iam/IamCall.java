package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.query.QueryCall;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityRow;

/**
 * A request of IAM.
 *
 * @param directory of the caller's account: no other one can be reached from here
 * @param out takes the result
 */
record IamCall(QueryCall query, Directory directory, XmlWriter out) {
  QueryParameters parameters() {
    return query.parameters();
  }

  Principal caller() {
    return query.caller();
  }

  String account() {
    return query.caller().accountId();
  }

  /** An action of IAM. It runs only after the caller's right to it has been checked. */
  @FunctionalInterface
  interface Work {
    void run(IamCall call, Subject subject) throws QueryException, MetadataUnavailableException;
  }

  /** What an action is about. */
  sealed interface Subject {
    /** An identity that exists. */
    record Present(IdentityRow row) implements Subject {}

    /** The root user of the account. */
    record Root() implements Subject {}

    /** Something that is not stored: the account, a list, what is to be created, a built-in. */
    record Named(String arn) implements Subject {}

    /** An identity that does not exist. */
    record Absent(String message) implements Subject {}

    /**
     * @throws QueryException NoSuchEntity
     */
    default IdentityRow row() throws QueryException {
      return switch (this) {
        case Present present -> present.row();
        case Absent absent -> throw new QueryException(QueryError.NO_SUCH_ENTITY, absent.message());
        case Root root ->
            throw new QueryException(
                QueryError.VALIDATION_ERROR, "Must specify userName for the root user.");
        case Named named ->
            throw new QueryException(
                QueryError.ACCESS_DENIED, "Built-in policies cannot be changed: " + named.arn());
      };
    }
  }
}
