export { Door } from './door'
export { Onboarding } from './onboarding'
export { SignIn } from './sign-in'
