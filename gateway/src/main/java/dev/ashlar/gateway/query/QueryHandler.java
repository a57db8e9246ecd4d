package dev.ashlar.gateway.query;

import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;

/** The actions of one service. */
public interface QueryHandler {
  /**
   * Serves a signed request.
   *
   * @param result takes the content of the result element
   */
  void handle(QueryCall call, XmlWriter result) throws QueryException, MetadataUnavailableException;

  /** Whether requests for this action have no signature. */
  default boolean isUnsigned(String action) {
    return false;
  }

  /** Serves a request without a signature; only for actions that are unsigned. */
  default void handleUnsigned(String action, QueryParameters parameters, XmlWriter result)
      throws QueryException, MetadataUnavailableException {
    throw new QueryException(
        QueryError.MISSING_AUTHENTICATION_TOKEN, "Request is missing Authentication Token");
  }
}
