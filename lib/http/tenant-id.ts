/** What a tenant may be called: words of which no harm comes in logs, queries and headers. */
export const TENANT_ID = '^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$';
