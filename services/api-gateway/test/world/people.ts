import request from 'supertest'
import { bearer, type TestGateway } from '.'

export interface User {
  sub: string
  email: string
}
let users = 0
export const newUser = (): User => {
  users += 1
  return { sub: `user ${users}`, email: `user-${users}@ponte.example` }
}

/** A login of this moment. */
export const logIn = ({ identity }: TestGateway, user: User): string => identity.sign({ ...user, email_verified: true })

/** Joins the merchant whose owner invites them, in this role; as an owner once that has waited. Answers with their id as a member. */
export async function joins(system: TestGateway, owner: string, user: User, role: string): Promise<string> {
  const { url } = system
  const invited = await request(url)
    .post('/api/v1/merchants/me/invitations')
    .set(bearer(owner))
    .send({ email: user.email, role })
    .expect(201)
  const accepting = request(url)
    .post('/api/v1/invitations/accept')
    .set(bearer(logIn(system, user)))
  await accepting.send({ token: invited.body.token }).expect(200)
  const { body } = await request(url).get('/api/v1/merchants/me/members').set(bearer(owner)).expect(200)
  return body.data.find(({ user_id }: { user_id: string }) => user_id === user.sub).id
}
